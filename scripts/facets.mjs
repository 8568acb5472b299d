import {
  MAX_EXTERNAL_ID_CHARACTERS,
  MAX_LOGIN_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_PASSWORD_BYTES,
  MAX_REDIRECT_URI_CHARACTERS,
  MIN_PASSWORD_CHARACTERS,
} from '../dist/rules/common/limits.js';
import { lookAlikeProblem } from '../dist/rules/common/lookAlike.js';
import { recordOf } from '../dist/rules/common/recordOf.js';
import { findUnclearCharacter } from '../dist/rules/common/text.js';

// What the rules of src/rules/ demand of a text that is registered, as JSON schema: as strict as a schema can be, so that they
// accept what it allows, and hardly stricter, so that a generated client sends what they accept. The patterns have no lookaround
// and no `\u`, which the regular expressions of Go lack. test/docs/facets.test.ts compares both.

const CHARACTERS = Array.from({ length: 0x1_fb00 }, (_, code) => code)
  .filter((code) => code > 0x7f && (code < 0xd800 || code >= 0xe000))
  .map((code) => String.fromCodePoint(code));

/**
 * Those that pass, for the brackets of a pattern.
 * @param {number} least the length of a run: a pattern with rare ones is too long
 * @param {(character: string) => boolean} passes
 */
function classOf(least, passes) {
  const runs = [];
  for (const character of CHARACTERS.filter(passes)) {
    const run = runs.at(-1);
    if (run?.at(-1)?.codePointAt(0) === (character.codePointAt(0) ?? 0) - 1) run?.push(character);
    else runs.push([character]);
  }
  const shown = runs.filter((run) => run.length >= least);
  return shown.map((run) => (run.length === 1 ? run[0] : `${run[0]}-${run.at(-1)}`)).join('');
}

const isClear = (text) => findUnclearCharacter(text) === undefined;

const VIRAMAS = '\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA';
/** Between these letters a joiner may stand. */
const JOINING = classOf(8, (one) => /\p{L}/u.test(one) && isClear(`a${one}\u200C${one}`)) + VIRAMAS;
/** And between these pictures. */
const PICTURES = `❤♀♂⚕⚖✈${classOf(2, (one) => isClear(`${one}\u200D${one}`) && !isClear(`a${one}\u200C${one}`))}`;
const FIRST = '[\\p{L}\\p{N}\\p{P}\\p{S}]';
/** Without pictures, which look like a mark of the service. */
const PLAIN = `[\\p{L}\\p{N}\\p{P}$+<=>^\`|~${classOf(1, (one) => /\p{S}/u.test(one) && lookAlikeProblem(one, []) === undefined)}]`;
/** Not \p{M}, of which some show nothing. */
const MARK = `[${classOf(1, (one) => /\p{M}/u.test(one) && isClear(`a${one}`))}]`;

const JOINED = `[${JOINING}][\u200C\u200D][${JOINING}]`;
/** A name of units and marks. */
const nameOf = (...units) => `^(?:${units.join('|')})(?: ?(?:${[...units, MARK].join('|')}))*$`;
const NAME = nameOf(FIRST, JOINED, `[${PICTURES}][\uFE0E\uFE0F]`);
const EXTERNAL_ID = `^(?:${FIRST})(?: *(?:${FIRST}|${MARK}))*$`;

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const BYTE = '(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])';
const HOST = `(?:(?:${LABEL}\\.){0,8}[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?|${BYTE}(?:\\.${BYTE}){3}|\\[::1\\])`;
const AUTHORITY = `${HOST}(?::(?:[1-5]?[0-9]{1,4}|6[0-4][0-9]{3}))?`;
const URI_TEXT = "(?:[A-Za-z0-9._~:/?[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*";
const LOOPBACK = '(?:localhost|127\\.0\\.0\\.1|\\[::1\\])(?::[1-5]?[0-9]{1,4})?';

const text = (minLength, maxLength, pattern) => ({
  minLength,
  maxLength,
  pattern,
});

/** What PostgreSQL stores. */
export const STORABLE = '^[^\\x00]*$';

const PASSWORD = text(MIN_PASSWORD_CHARACTERS, MAX_PASSWORD_BYTES, '^[^\\x00-\\x1f\\x7f-\\x9f]*$');
const LOGIN = text(1, MAX_LOGIN_CHARACTERS, NAME);
/** Of an application, unless it is forced, or an operator. */
const PLAIN_NAME = text(1, MAX_NAME_CHARACTERS, nameOf(PLAIN, JOINED));

/**
 * By field, or by operation and field.
 * @type {Readonly<Record<string, import('zod').core.JSONSchema.BaseSchema>>}
 */
export const FACETS = {
  name: text(1, MAX_NAME_CHARACTERS, NAME),
  ...recordOf(['clients.create name', 'clients.update name', 'operators.create name'], PLAIN_NAME),
  login: LOGIN,
  new_login: LOGIN,
  external_id: text(1, MAX_EXTERNAL_ID_CHARACTERS, EXTERNAL_ID),
  'users.update external_id': { maxLength: MAX_EXTERNAL_ID_CHARACTERS, pattern: `^$|${EXTERNAL_ID}` },
  id: text(1, 128, '^(?:\\.*[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\\.{3,})$'),
  secret: text(16, 256, '^[ -~]*$'),
  password: PASSWORD,
  payment_password: PASSWORD,
  redirect_uri: text(
    1,
    MAX_REDIRECT_URI_CHARACTERS,
    `^(?:[Hh][Tt][Tt][Pp][Ss]://${AUTHORITY}(?:[/?]${URI_TEXT})?|http://${LOOPBACK}(?:[/?]${URI_TEXT})?|[A-Za-z][A-Za-z0-9+-]*(?:\\.[A-Za-z0-9+-]+)*:(?://[A-Za-z0-9.-]*)?(?:[/?]${URI_TEXT})?)$`,
  ),
  site: text(1, 500, `^https://${AUTHORITY}(?:[/?#][!-~]*)?$`),
  most: {
    properties: {
      days: { type: 'integer', minimum: 1, maximum: 9_999 },
      sum: {
        type: 'string',
        pattern: '^(?:[1-9][0-9]{0,11}(?:\\.[0-9]{1,2})?|0\\.(?:0[1-9]|[1-9][0-9]?))$',
      },
    },
  },
  allowed_rights: { items: { type: 'string', maxLength: 64, pattern: '^[a-z][a-z0-9:._-]*$' } },
};
