#!/usr/bin/env bash
# The authorization code flow with curl. ASSENT_URL, CLIENT_ID and, for a client with a secret, CLIENT_SECRET come from the environment.
# The page at the end of the redirect doesn't load: nothing listens there. Copy its address from the browser.
set -euo pipefail
: "${ASSENT_URL:?}" "${CLIENT_ID:?}" "${CLIENT_SECRET:=}" "${REDIRECT_URI:=http://localhost:8080/callback}"

state=$(openssl rand -hex 16)
verifier=$(openssl rand -hex 32)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=')

url="$ASSENT_URL/oauth/authorize?client_id=$CLIENT_ID&response_type=code&redirect_uri=$REDIRECT_URI"
url+="&scope=account-info%20payment-shop.limit%287,5000%29&state=$state"
url+="&code_challenge=$challenge&code_challenge_method=S256"

echo "Open this address in a browser, decide, then paste the address that you are redirected to:" >&2
echo "$url" >&2
read -r answer

case $answer in
  "$REDIRECT_URI?state=$state&code="*) code=${answer#*&code=} ;;
  "$REDIRECT_URI?state=$state&error=access_denied") echo "You said no." >&2; exit 1 ;;
  *) echo "This is not the answer to this request." >&2; exit 1 ;;
esac

# The secret goes through a pipe: every user of this machine can read the arguments of a command.
printf %s "$CLIENT_SECRET" | curl -sS --fail-with-body "$ASSENT_URL/oauth/token" \
  -d grant_type=authorization_code -d "code=$code" -d "code_verifier=$verifier" \
  -d "client_id=$CLIENT_ID" --data-urlencode client_secret@- \
  --data-urlencode "redirect_uri=$REDIRECT_URI"
