"""django-oauth-toolkit as its tutorial sets it up, with the changes that its and Django's deployment pages ask for."""

import os
from pathlib import Path

SECRET_KEY = "a secret of the benchmark with more than fifty characters, not used anywhere else"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "oauth2_provider",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "bench.urls"
WSGI_APPLICATION = "bench.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).parent / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ["PGDATABASE"],
        "USER": os.environ["PGUSER"],
        "HOST": os.environ["PGHOST"],
        "PORT": os.environ["PGPORT"],
        "CONN_MAX_AGE": 600,
    }
}
SESSION_ENGINE = "django.contrib.sessions.backends.db"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
OAUTH2_PROVIDER = {
    "SCOPES": {"account-info": "See your account", "operation-history": "See your operations"},
    "PKCE_REQUIRED": False,
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 600,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3 * 365 * 86400,
}
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
