"""Makes the tables, the users and the application: PASSWORD is everybody's; HASHED: the secret is kept as it is by default."""

import os

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "bench.settings"
django.setup()

from django.contrib.auth.hashers import make_password  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from oauth2_provider.models import Application  # noqa: E402

call_command("migrate", verbosity=0)
password = make_password(os.environ["PASSWORD"])
names = [f"user-{n}" for n in range(1, int(os.environ["USERS"]) + 1)]
User.objects.bulk_create(User(username=name, password=password) for name in names)
Application.objects.create(
    name="Shop",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    hash_client_secret=os.environ["HASHED"] == "true",
    redirect_uris=os.environ["REDIRECT_URI"],
    client_type=Application.CLIENT_CONFIDENTIAL,
    authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
    skip_authorization=False,
)
