import { randomUUID } from 'node:crypto';
import { readConfig } from '../config/config.ts';
import { openNotifier, receiverFor } from '../process/notify.ts';
import { OperatorError } from '../rules/common/error.ts';
import type { Arguments, Options } from './commands.ts';
import type { Shell } from './shell.ts';

/** `assent notify secret [client-id]`: the secrets that verify an endpoint's webhooks, the current one first. */
export async function showSecrets(shell: Shell, _options: Options, [clientId]: Arguments): Promise<void> {
  await openNotifier(shell.log, readConfig(shell.streams.env), async (notifier) => {
    const { name } = await receiverFor(notifier, clientId);
    const secrets = notifier.secretsOf(name);
    shell.print({ endpoint: name, secrets }, secrets.join('\n'));
  });
}

/** `assent notify test [client-id]`: posts a message of the type `test`. */
export async function sendTest(shell: Shell, _options: Options, [clientId]: Arguments): Promise<void> {
  await openNotifier(shell.log, readConfig(shell.streams.env), async (notifier) => {
    const receiver = await receiverFor(notifier, clientId);
    const id = randomUUID();
    const body = { type: 'test', timestamp: new Date(), data: {} };
    await notifier.deliver(receiver, { id, body }).catch(({ message }: Error) => {
      throw new OperatorError('state', `${receiver.url}: ${message}`);
    });
    shell.print({ endpoint: receiver.name, id }, `delivered to ${receiver.url}`);
  });
}
