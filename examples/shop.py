"""The authorization code flow in Python 3.9 or newer, with the standard library alone. Run it with ASSENT_URL, CLIENT_ID and,
for a client with a secret, CLIENT_SECRET in the environment; register it for http://localhost:8080/callback."""

import base64, hashlib, html, json, os, secrets, sys
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import Request, urlopen

ASSENT_URL = os.environ["ASSENT_URL"]
CLIENT_ID = os.environ["CLIENT_ID"]
CLIENT_SECRET = os.environ.get("CLIENT_SECRET", "")
PORT = int(os.environ.get("PORT", "8080"))
REDIRECT_URI = os.environ.get("REDIRECT_URI", f"http://localhost:{PORT}/callback")

attempts = {}  # state and verifier by the browser's session; in production: your session store, with an expiry


def authorization_form():
    """A page with a button that sends the browser to Assent, and the session cookie."""
    session, state, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    attempts[session] = (state, verifier)
    digest = hashlib.sha256(verifier.encode()).digest()
    fields = {
        "client_id": CLIENT_ID,
        "response_type": "code",
        "redirect_uri": REDIRECT_URI,
        "scope": "account-info payment-shop.limit(7,5000)",
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    inputs = "".join(
        f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in fields.items()
    )
    action = html.escape(f"{ASSENT_URL}/oauth/authorize")
    page = f'<form method="post" action="{action}">{inputs}<button name="connect">Connect my account</button></form>'
    return page, f"shop_session={session}; Path=/; HttpOnly; SameSite=Lax"


def exchange(code, verifier):
    """Returns the access token. Raises RuntimeError with the answer of Assent."""
    fields = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": REDIRECT_URI,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,  # an empty one counts as none
        "code_verifier": verifier,
    }
    try:
        with urlopen(Request(f"{ASSENT_URL}/oauth/token", urlencode(fields).encode()), timeout=30) as response:
            return json.load(response)["access_token"]
    except HTTPError as error:
        raise RuntimeError(error.read().decode()) from None


def save(access_token):
    """In production: encrypted, in your database, with the user it belongs to."""
    with open(os.open("access-token", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(access_token)


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/":
            self.answer(200, *authorization_form())
        elif url.path == "/callback":
            self.answer(*self.callback({name: values[0] for name, values in parse_qs(url.query).items()}))
        else:
            self.answer(404, "There is no such page.")

    def callback(self, answer):
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("shop_session")
        session = cookie.value if cookie else ""
        state, verifier = attempts.get(session, ("", ""))
        expected = state and secrets.compare_digest(state.encode(), answer.get("state", "").encode())
        # Removed before the exchange: a reload must not repeat it.
        if not expected or attempts.pop(session, None) is None:
            return 400, 'No request is open. <a href="/">Start again</a>'
        if answer.get("error") == "access_denied":
            return 200, 'You said no. <a href="/">Change your mind</a>'
        try:
            save(exchange(answer["code"], verifier))
            return 200, "Your account is connected."
        except Exception as error:
            print(error, file=sys.stderr, flush=True)
            return 400, 'That didn’t work. <a href="/">Start again</a>'

    def answer(self, status, page, cookie=None):
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, *_):
        pass  # the callback's address contains the code, which must not be logged


with ThreadingHTTPServer(("localhost", PORT), App) as server:
    print(f"Open http://localhost:{PORT}/", flush=True)
    server.serve_forever()
