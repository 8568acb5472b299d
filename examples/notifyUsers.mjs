// Notifies users of events on their accounts, outside the pages: follows the audit trail by `assent audit next`, and passes
// each event of interest to `deliver`. At least once: an event interrupted by a crash is repeated with the
// same `id`. Any error ends the program; the supervisor that restarts it (systemd, a container) resumes the work.
//
//   STATE_FILE=/var/lib/notify-users/state DATABASE_URL=postgres://assent_notifier@… node notifyUsers.mjs npx assent
//
// With BASE_URL, as of the servers, a message of an approval has the link to its receipt.
// The messages are the group `messages` of the pages' texts, in LANGUAGE (en, ru, or of your folder TEXTS). Assent stores no
// language of a user: where you know it, choose by that.
//
// That role reads only the needed tables and writes nothing: docs/operate/commands.md#telling-users has its SQL.
// Without a state file it begins now. Run one; two with a file each deliver everything twice.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const { BASE_URL, LANGUAGE = 'en', TEXTS } = process.env;
const STATE_FILE = process.env.STATE_FILE ?? 'notify-users.state';
const PAUSE_MS = Number(process.env.PAUSE_MS ?? 5_000);
const [COMMAND = 'npx', ...ARGUMENTS] = process.argv.length > 2 ? process.argv.slice(2) : ['npx', 'assent'];

const builtIn = (tag) => fileURLToPath(new URL(`../views/texts/${tag}.json`, import.meta.url));
const own = TEXTS ? [join(TEXTS, `${LANGUAGE}.json`)] : [];
const ofLanguage = [builtIn(LANGUAGE), ...own].filter(existsSync);
if (ofLanguage.length === 0) throw new Error(`there are no texts for LANGUAGE ${LANGUAGE}`);
const messagesIn = async (file) => JSON.parse(await readFile(file, 'utf8')).messages;
/** The texts by `outcome`; each file replaces texts of the one before. */
const MESSAGES = Object.assign({}, ...(await Promise.all([builtIn('en'), ...ofLanguage].map(messagesIn))));

/** The message for the user of an event; null for none. */
function messageOf({ outcome, at, reference, client_name, limits, detail }) {
  const text = MESSAGES[outcome];
  if (typeof text !== 'string' || (outcome === 'signed_in' && detail?.known_device)) return null;
  const { spends, confirmed, unknown, receipt } = MESSAGES;
  const number = `${at.slice(0, 10)}-${reference}`;
  const values = {
    client: client_name,
    browser: detail?.browser ?? unknown.browser,
    system: detail?.system ?? unknown.system,
    number,
    link: `${BASE_URL}/oauth/account/history/${number}`,
  };
  const sentences = [text];
  if (limits?.length) sentences.push(spends, confirmed[detail?.confirmed_by]);
  if (BASE_URL && /^approved/.test(outcome)) sentences.push(receipt);
  const message = sentences.filter(Boolean).join(' ');
  return message.replaceAll(/\{(\w+)\}/g, (_, name) => values[name]);
}

/**
 * Write this: an e-mail, an SMS, a push to the user of the login. Throw for a temporary failure (an unreachable
 * mail server), not for a permanent one (an address that doesn't exist): it would block all later notices.
 */
async function deliver({ id, at, login }, message) {
  console.log(JSON.stringify({ id, at, login, message }));
}

async function readState() {
  try {
    return JSON.parse(await readFile(STATE_FILE, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return { cursor: null, delivered: [] };
    throw error;
  }
}

/** The old state stays intact until the new one is written. */
async function writeState(state) {
  await writeFile(`${STATE_FILE}.new`, JSON.stringify(state), { flush: true });
  await rename(`${STATE_FILE}.new`, STATE_FILE);
}

async function readNext(cursor) {
  const cursors = cursor === null ? [] : [cursor];
  const next = [...ARGUMENTS, 'audit', 'next', ...cursors, '--json'];
  const { stdout } = await promisify(execFile)(COMMAND, next, { maxBuffer: Number.POSITIVE_INFINITY });
  return JSON.parse(stdout);
}

let { cursor, delivered } = await readState();
for (;;) {
  const next = await readNext(cursor);
  for (const event of next.events) {
    const message = messageOf(event);
    // An account erased meanwhile has no login.
    if (message === null || event.login === null || delivered.includes(event.id)) continue;
    await deliver(event, message);
    delivered.push(event.id);
    await writeState({ cursor, delivered });
  }
  ({ cursor } = next);
  delivered = [];
  await writeState({ cursor, delivered });
  if (next.events.length === 0) await sleep(PAUSE_MS);
}
