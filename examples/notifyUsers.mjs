// Receives the messages for users that `assent notify` posts to NOTIFY_URL, and passes each one to `deliver`. The service
// tries again until it gets 200, so a crash loses nothing, and repeats at most the message under way.
//
//   WEBHOOK_SECRET=$(npx assent notify secret | head -n 1) node notifyUsers.mjs    # docs/operate/notify.md

import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks'; // npm install standardwebhooks

const { PORT = '8090', DELIVERED_FILE: FILE = 'delivered' } = process.env;
const webhook = new Webhook(process.env.WEBHOOK_SECRET);
/** Ids of messages; use a table of yours. */
const delivered = new Set(existsSync(FILE) ? (await readFile(FILE, 'utf8')).split('\n') : []);

/**
 * Write this: an e-mail, an SMS, a push to the user of the login. Throw for a temporary failure (an unreachable mail
 * server), not for a permanent one (an address that doesn't exist): it would hold back all later messages.
 */
async function deliver({ id, login, subject, text }) {
  console.log(JSON.stringify({ id, login, subject, text }));
}

createServer(async (request, response) => {
  try {
    const message = webhook.verify(await text(request), request.headers);
    if (message.type !== 'test' && !delivered.has(message.id)) {
      await deliver(message);
      delivered.add(message.id);
      await appendFile(FILE, `${message.id}\n`);
    }
    response.end();
  } catch (error) {
    console.error(error.message);
    response.writeHead(error.name === 'WebhookVerificationError' ? 401 : 503).end();
  }
}).listen(Number(PORT));
