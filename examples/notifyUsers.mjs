// Notifies users of events on their accounts, outside the pages: follows the audit trail by `assent audit next`, and passes
// each event of interest to `deliver`. At least once: an event interrupted by a crash is repeated with the
// same `id`. Any error ends the program; the supervisor that restarts it (systemd, a container) resumes the work.
//
//   STATE_FILE=/var/lib/notify-users/state DATABASE_URL=postgres://assent_notifier@… node notifyUsers.mjs npx assent
//
// That role reads only the needed tables and writes nothing: docs/operate/commands.md#telling-users has its SQL.
// Without a state file it begins now. Run one; two with a file each deliver everything twice.

import { execFile } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const STATE_FILE = process.env.STATE_FILE ?? 'notify-users.state';
const PAUSE_MS = Number(process.env.PAUSE_MS ?? 5_000);
const [COMMAND = 'npx', ...ARGUMENTS] = process.argv.length > 2 ? process.argv.slice(2) : ['npx', 'assent'];

const CONFIRMED = {
  payment_password: ' Your payment password confirmed that.',
  provider: ' You confirmed that at sign-in.',
};
const spends = ({ limits, detail }) =>
  limits?.length ? ` It may spend money from your account.${CONFIRMED[detail?.confirmed_by] ?? ''}` : '';

const browserOf = (detail) =>
  `a browser that we did not recognise (${detail?.browser ?? 'unknown'} on ${detail?.system ?? 'an unknown system'})`;

/** The text for users, by `outcome`; null for no notice. */
const MESSAGES = {
  approved: (event) => `You gave ${event.client_name} access to your account.${spends(event)}`,
  approved_again: (event) => `You gave ${event.client_name} access to your account again.${spends(event)}`,
  replayed: (event) => `A one-time code for ${event.client_name} was used twice, so we took its access back.`,
  signed_in: ({ detail }) =>
    detail?.known_device ? null : `There was a sign-in to your account in ${browserOf(detail)}.`,
  password_changed: () => 'Your password was changed.',
  payment_password_changed: () => 'Your payment password was changed.',
  user_password_set: () => 'We set a new password for you.',
  password_guessed: () => 'Wrong passwords were typed for your account several times.',
  payment_password_guessed: () => 'Wrong payment passwords were typed for your account several times.',
};

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
    const message = MESSAGES[event.outcome]?.(event) ?? null;
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
