import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { useServer } from '../support/server.ts';

const server = useServer();

/** Says `text` and nothing more. @returns all that comes until the server ends the connection */
function sayAndWait(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(server.baseUrl).port), 'localhost');
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.once('close', () => resolve(answer));
    socket.once('error', reject);
    socket.write(text);
  });
}

const HEADERS =
  'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';

describe('a request that never ends', () => {
  it('is ended by the server, calmly, whether its headers or its body are missing', {
    timeout: 60_000,
  }, async () => {
    const answers = await Promise.all([
      sayAndWait('GET /account HTTP/1.1\r\nHost: local'),
      sayAndWait(HEADERS),
      sayAndWait(`${HEADERS}Content-Length: 50\r\n\r\ngrant_type=`),
    ]);
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(answer).toContain('It took too long.');
    }
  });
});
