const MAX_ADDRESS_CHARACTERS = 500;

export const WEB_ADDRESS = `https://, a host and at most ${MAX_ADDRESS_CHARACTERS} visible ASCII characters`;

/** A web link that can be shown unchanged: a user name could be mistaken for the host. */
export function isWebAddress(url: string): boolean {
  return (
    url.length <= MAX_ADDRESS_CHARACTERS &&
    /^https:\/\/[^/?#@\\]+([/?#]|$)/.test(url) &&
    /^[\x21-\x7e]*$/.test(url) &&
    URL.canParse(url)
  );
}
