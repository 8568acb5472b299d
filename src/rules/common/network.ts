import { isIPv4 } from 'node:net';

/** Requests to such a host cross no network. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|::1|\[::1\])$/.test(hostname);
}

/** Browsers use TLS, with or without a proxy in between. */
export function isHttps(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}

/** The network of an address, too wide to identify a person: `203.0.113.0/24`, `2001:db8:1::/48`. Null for no address. */
export function truncateNetwork(address: string): string | null {
  if (isIPv4(address)) return address.replace(/\d+$/, '0/24');
  return address.includes(':') ? `${rateLimitNetworkOf(address)}::/48` : null;
}

/** A {@link truncateNetwork} as people know addresses: `203.0.113.x`, `2001:db8:1:x`. */
export function displayNetworkOf(network: string): string {
  return network.replace(/\.0\/24$/, '.x').replace(/::\/48$/, ':x');
}

/** A subscriber's network: an IPv4 address, or the first 48 bits of an IPv6 address. @param address in Node's form */
export function rateLimitNetworkOf(address: string): string {
  if (isIPv4(address) || !address.includes(':')) return address;
  const [head = ''] = address.split('::', 1);
  const groups = [...head.split(':'), '', '', ''].slice(0, 3);
  return groups.map((group) => Number.parseInt(group || '0', 16).toString(16)).join(':');
}

const MAX_URL_CHARACTERS = 500;

export const WEB_ADDRESS_RULE = `https://, a host and at most ${MAX_URL_CHARACTERS} visible ASCII characters`;

/** A web link that can be shown unchanged: a user name could be mistaken for the host. */
export function isWebAddress(url: string): boolean {
  return (
    url.length <= MAX_URL_CHARACTERS &&
    /^https:\/\/[^/?#@\\]+([/?#]|$)/.test(url) &&
    /^[\x21-\x7e]*$/.test(url) &&
    URL.canParse(url)
  );
}
