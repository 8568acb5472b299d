import { expect, it } from 'vitest';
import { deviceOf } from '../../src/rules/account/userAgent.ts';

const CHROMIUM = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

it.each([
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROMIUM} Edg/126.0.0.0`, 'Microsoft Edge', 'Windows'],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${CHROMIUM.replace(' Safari', ' Mobile Safari')}`,
    'Chrome',
    'Android',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    'Safari',
    'iOS',
  ],
])('recognises browser and system by the User-Agent: %s', (userAgent, browser, system) => {
  expect(deviceOf(userAgent)).toEqual({ browser, system });
});

it.each([null, '', 'node', '<b>Your bank</b>/1 x', `${'x'.repeat(30_000)} Firefox/127.0`])(
  'recognises no browser or system by the User-Agent: %j',
  (userAgent) => {
    expect(deviceOf(userAgent)).toEqual({ browser: null, system: null });
  },
);
