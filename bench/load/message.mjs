import { headerOf } from './answer.mjs';

/** @typedef {import('./answer.mjs').Answer} Answer */

/** @param {string} target @param {Record<string, string>} headers @returns {Buffer} a whole GET request */
export function get(target, headers = {}) {
  return Buffer.from(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines(headers)}\r\n`);
}

/**
 * @param {string} target @param {string} body form-encoded, like a browser's or an application's
 * @param {Record<string, string>} headers @returns {Buffer} a whole POST request
 */
export function post(target, body, headers = {}) {
  const form = `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`POST ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\n${form}${lines(headers)}\r\n${body}`);
}

/** @param {Record<string, string>} headers */
function lines(headers) {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** @param {Record<string, string>} fields */
export function form(fields) {
  return Object.entries(fields)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
}

/**
 * A wrong response ends the attempt and counts as an error.
 *
 * @param {unknown} condition @param {string} what @param {Answer} answer
 */
export function require(condition, what, answer) {
  if (!condition) throw notThis(what, answer);
}

/** @param {string} what @param {Answer} answer */
function notThis(what, answer) {
  return new Error(`${what}: ${answer.status} ${answer.body.slice(0, 300)}`);
}

/** The `Location` of a redirect with this status. @param {Answer} answer @param {number} status */
export function locationOf(answer, status) {
  const location = headerOf(answer.head, 'location');
  if (answer.status !== status || location === undefined) throw notThis(`no ${status} redirect`, answer);
  return location;
}

/** The destination of a page or a form. @param {Answer} answer */
export function redirectOf(answer) {
  return locationOf(answer, answer.status === 303 ? 303 : 302);
}

/**
 * The address of the form on a page whose `action` ends so, and its hidden fields. Earlier builds have no `/oauth` in it.
 *
 * @param {Answer} answer @param {string} ending
 */
export function formTo(answer, ending) {
  const end = answer.body.indexOf(`${ending}">`);
  require(end >= 0, `no form to ${ending}`, answer);
  const start = answer.body.lastIndexOf('"', end) + 1;
  const action = answer.body.slice(start, end + ending.length);
  const formText = answer.body.slice(start, answer.body.indexOf('</form>', start));
  const inputs = formText.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  const fields = Object.fromEntries([...inputs].map(([, name, value = '']) => [name, unescapeHtml(value)]));
  return { action, fields };
}

/** @type {Record<string, string>} */
const ENTITIES = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#61;': '=' };

/** @param {string} text */
export function unescapeHtml(text) {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39|#61);/g, (entity) => ENTITIES[entity] ?? entity);
}

/**
 * A response's cookies as a browser would return them, added to earlier ones.
 *
 * @param {Answer} answer @param {Record<string, string>} cookies @returns {Record<string, string>}
 */
export function cookiesAfter(answer, cookies = {}) {
  const set = [...answer.head.matchAll(/\r\nset-cookie: *([^=\r]+)=([^;\r]*)/gi)];
  return { ...cookies, ...Object.fromEntries(set.map(([, name, value]) => [name, value])) };
}

/** @param {Record<string, string>} cookies */
export function cookieHeader(cookies) {
  return Object.entries(cookies)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
}
