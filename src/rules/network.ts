import { isIPv4 } from 'node:net';

/** Whether a host in a URL is this machine: what is sent there crosses no network. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The network of one subscriber: an IPv4 address, or the first 48 bits of an IPv6 address. @param address as Node writes it */
export function networkOf(address: string): string {
  if (isIPv4(address) || !address.includes(':')) return address;
  const [head = ''] = address.split('::', 1);
  const groups = [...head.split(':'), '', '', ''].slice(0, 3);
  return groups.map((group) => Number.parseInt(group || '0', 16).toString(16)).join(':');
}
