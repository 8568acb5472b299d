const MAX_CHARACTERS = 500;

/** What {@link isWebAddress} asks, for messages. */
export const WEB_ADDRESS = `https://, a host and at most ${MAX_CHARACTERS} visible ASCII characters`;

/** Whether `url` leads into the web, and can be linked to and shown as it is: a user name could be taken for the host. */
export function isWebAddress(url: string): boolean {
  return (
    url.length <= MAX_CHARACTERS &&
    /^https:\/\/[^/?#@\\]+([/?#]|$)/.test(url) &&
    /^[\x21-\x7e]*$/.test(url) &&
    URL.canParse(url)
  );
}
