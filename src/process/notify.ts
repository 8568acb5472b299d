import type { Logger } from 'pino';
import { type Config, readConfig } from '../config/config.ts';
import { deliver, formatKey } from '../notify/deliver.ts';
import { loadReceivers, type Notifier, runNotifier } from '../notify/run.ts';
import { tellApplications } from '../notify/tellApplication.ts';
import { tellWallet } from '../notify/tellWallet.ts';
import { OperatorError } from '../rules/common/error.ts';
import { KeyRing } from '../secrets/keyRing.ts';
import { withSessionLock } from '../store/database/sessionLock.ts';
import { receiverName, WALLET } from '../store/operate/notifyCursors.ts';
import { end, endInOrder, onEnd } from './ending.ts';
import { openLog } from './log.ts';
import { checkSchema, openStore, type StoreLog } from './openStore.ts';

/** The advisory lock of the one process that notifies. */
const NOTIFY_LOCK = 7_274_830;

/** Runs `assent notify` until a signal. @throws {ConfigError}, and what the database throws */
export async function notify(): Promise<void> {
  const config = readConfig();
  const log = openLog(config.logLevel);
  const ending = new AbortController();
  const running = openNotifier(log, config, (notifier) => run(notifier, log, ending.signal));
  onEnd(async () => {
    ending.abort();
    await running.catch(() => {});
  });
  endInOrder(0, () => log.info('stopped'));
  await running;
}

function run(notifier: Notifier, log: Logger, signal: AbortSignal): Promise<void> {
  const hooks = {
    waiting: () => log.info('waiting for the end of another process that notifies'),
    lost() {
      log.fatal('stopping: the connection with the lock was lost');
      end(null);
    },
  };
  return withSessionLock(notifier.pool, NOTIFY_LOCK, signal, hooks, async () => {
    log.info('notifying');
    await runNotifier({ ...notifier, log }, signal);
  });
}

type OpenNotifier = Notifier & { secretsOf(name: string): string[] };

/** Opens the database and the keys of `SECRETS` for some work. */
export async function openNotifier(
  log: StoreLog,
  config: Config,
  work: (notifier: OpenNotifier) => Promise<void>,
): Promise<void> {
  const secrets = config.secrets ?? (await import('../trial/startTrial.ts')).trialSecrets(config.dataDir);
  const keyRing = new KeyRing(secrets);
  const { pool, close } = await openStore(config, log);
  try {
    await checkSchema(pool, log);
    await work({
      pool,
      log: { info() {}, warn() {}, error() {} },
      wallet: config.notifyUrl === null ? null : { name: WALLET, url: config.notifyUrl, isInternal: true },
      secretsOf: (name) => keyRing.webhookKeys(name).map(formatKey),
      deliver: (receiver, webhook) => deliver(receiver, keyRing.webhookKeys(receiver.name), webhook),
      async tellWallet(event) {
        const webhook = config.notifyUrl === null ? null : await tellWallet(pool, event, config);
        return webhook === null ? [] : [[WALLET, webhook]];
      },
      async tellApplications(event) {
        const told = await tellApplications(pool, event, config.currency);
        return told.map(({ clientId, webhook }) => [receiverName(clientId), webhook]);
      },
    });
  } finally {
    await close();
  }
}

/** @param clientId the wallet without one @throws {OperatorError} if it has no address */
export async function receiverFor(notifier: Notifier, clientId: string | null = null) {
  const receiver = (await loadReceivers(notifier)).get(receiverName(clientId));
  if (receiver !== undefined) return receiver;
  const remedy = clientId === null ? 'set NOTIFY_URL' : 'see assent client update --events-uri';
  throw new OperatorError('state', `${receiverName(clientId)} has no address for webhooks: ${remedy}`);
}
