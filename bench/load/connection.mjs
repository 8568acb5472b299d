import { connect } from 'node:net';
import { headerOf, readAnswer } from './answer.mjs';

/** A response that takes longer counts as an error. */
const ANSWER_TIMEOUT_MS = 10_000;
const NOTHING = Buffer.alloc(0);

/** @typedef {import('./answer.mjs').Answer} Answer */

/**
 * One keep-alive connection with one request at a time, like a browser's or an application's. It opens on first use and
 * again after the server closed it.
 */
export class Connection {
  #port;
  /** @type {import('node:net').Socket | undefined} */
  #socket;
  /** @type {Buffer} */
  #received = NOTHING;
  /** @type {{ resolve(answer: Answer): void, reject(error: Error): void } | undefined} */
  #waiting;

  /** @param {number} port */
  constructor(port) {
    this.#port = port;
  }

  /** @param {Buffer} request whole @returns {Promise<Answer>} */
  send(request) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket ??= this.#open();
      this.#socket.write(request);
    });
  }

  close() {
    this.#socket?.destroy();
  }

  /** The server closes after this response (RFC 9112, 9.6): another request there would get none. */
  #leave() {
    this.#socket?.removeAllListeners('close').end();
    this.#socket = undefined;
  }

  #open() {
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true });
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error('no answer in time')));
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
    return socket;
  }

  /** @param {Buffer} chunk */
  #read(chunk) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    try {
      const answer = readAnswer(this.#received);
      if (answer === undefined) return;
      this.#received = NOTHING;
      if (headerOf(answer.head, 'connection')?.toLowerCase() === 'close') this.#leave();
      this.#settle()?.resolve(answer);
    } catch (error) {
      this.#socket?.destroy(/** @type {Error} */ (error));
    }
  }

  /** @param {Error} error */
  #fail(error) {
    this.#socket = undefined;
    this.#received = NOTHING;
    this.#settle()?.reject(error);
  }

  #settle() {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}
