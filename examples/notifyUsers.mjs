// Tells users what happened on their accounts, outside the pages: follows the audit trail by `assent audit next`, and hands
// each event that a user should hear of to `deliver`. At least once: what was under way in a crash comes again, with the
// same `id`. Whatever goes wrong ends it; the supervisor that starts it again (systemd, a container) makes it go on.
//
//   STATE_FILE=/var/lib/notify-users/state DATABASE_URL=postgres://assent_notifier@… node notifyUsers.mjs npx assent
//
// That role reads what is needed here and writes nothing: docs/operate/commands.md#telling-users has the SQL that makes it.
// Without a state file it begins now. One of it is enough; two with a file each deliver everything twice.

import { execFile } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const STATE_FILE = process.env.STATE_FILE ?? 'notify-users.state';
const PAUSE_MS = Number(process.env.PAUSE_MS ?? 5_000);
const [COMMAND = 'npx', ...ARGUMENTS] = process.argv.length > 2 ? process.argv.slice(2) : ['npx', 'assent'];

const spends = ({ limits }) => (limits?.length ? ' It may spend money from your account.' : '');

const browserOf = (detail) =>
  `a browser that we did not recognise (${detail?.browser ?? 'unknown'} on ${detail?.system ?? 'an unknown system'})`;

/** What users hear of, by its `outcome`; null for what they need not hear. */
const MESSAGES = {
  approved: (event) => `You gave ${event.client_name} access to your account.${spends(event)}`,
  approved_again: (event) => `You gave ${event.client_name} access to your account again.${spends(event)}`,
  replayed: (event) => `A one-time code for ${event.client_name} was used twice, so we took its access back.`,
  signed_in: ({ detail }) =>
    detail?.known_device ? null : `Somebody signed in to your account in ${browserOf(detail)}.`,
  payment_confirmed: (event) => `Your payment password was used for ${event.client_name}.`,
  password_changed: () => 'Your password was changed.',
  payment_password_changed: () => 'Your payment password was changed.',
  user_password_set: () => 'We set a new password for you.',
  password_guessed: () => 'Wrong passwords were typed for your account several times.',
  payment_password_guessed: () => 'Wrong payment passwords were typed for your account several times.',
};

/**
 * Yours to write: an e-mail, an SMS, a push to the user whose login it is. Throw for what may work later (a mail server that
 * is away), not for what never will (an address that doesn't exist): nobody after it would hear anything.
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

/** The old state stays whole until the new one is. */
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
    const message = MESSAGES[event.outcome]?.(event) ?? null;
    // An account that was erased meanwhile has no login.
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
