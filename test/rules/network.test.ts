import { expect, it } from 'vitest';
import { truncateNetwork } from '../../src/rules/common/network.ts';

it.each([
  ['127.0.0.1', '127.0.0.0/24'],
  ['2001:db8:12:3456::1', '2001:db8:12::/48'],
  ['2001:0db8:0012:3456:7890:abcd:ef01:2345', '2001:db8:12::/48'],
  ['::1', '0:0:0::/48'],
  ['unknown', null],
])('only the network of an address is shown (null if unknown): %s as %s', (address, network) => {
  expect(truncateNetwork(address)).toBe(network);
});
