import { setTimeout as sleep } from 'node:timers/promises';
import { parseToken } from '../../src/secrets/tokens.ts';
import { runAssent } from '../support/process/process.ts';
import { Browser } from './browser.ts';
import type { Dice } from './dice.ts';
import type { Asked } from './evidence.ts';
import type { Site } from './site.ts';

type Task = Pick<Asked, 'act' | 'userId' | 'clientId' | 'mayBeIdle'> & { readonly args: readonly string[] };

const MAX_ASKED = 20;

/** An operator at a command line. @returns blocks and unblocks, or revokes, by the dice's choice */
export function operator(site: Site, dice: Dice) {
  const resourceServer = new Browser(site, { actor: 'resource server' }, dice);
  let commands = 0;
  const nextName = () => `faults-${commands++}`;

  /** Resolves when the subject is unblocked: others need it. */
  async function blockForAWhile(subject: Partial<Asked>, noun: string, id: string): Promise<void> {
    const mayBeIdle = !(await run({ ...subject, act: 'block', args: [noun, 'block', id] }));
    if (!mayBeIdle) await askForTokensOf(subject);
    await sleep(dice.below(300));
    const name = nextName();
    const unblock = { ...subject, mayBeIdle, act: 'unblock', args: [noun, 'unblock', id] } as const;
    while (!(await run(unblock, name)));
  }

  /** Asks for the newest tokens of a blocked user or application: none may be accepted. */
  async function askForTokensOf({ userId, clientId }: Partial<Asked>): Promise<void> {
    const isBlocked = (token: string) => {
      const owner = site.owners.get(parseToken('token', token).grantId ?? '');
      return clientId === undefined ? owner?.userId === userId : owner?.clientId === clientId;
    };
    const tokens = [...site.tokens].filter(isBlocked).slice(-MAX_ASKED);
    await Promise.allSettled(tokens.map((token) => resourceServer.introspect(token)));
  }

  /** Several runs under one name are one act, of which one at most leaves a row. @returns whether it is done */
  async function run({ args, ...task }: Task, name = nextName()): Promise<boolean> {
    const { during, home } = site;
    const askedAt = Date.now();
    const variables = { DATABASE_URL: home.ownerUrl, ASSENT_OPERATOR: name };
    const { code, stderr: why } = await runAssent([...args, '--json'], variables);
    const told = code === 0 ? 'done' : 'nothing';
    const asked = { ...task, actor: 'operator', during, form: name, ref: name, askedAt };
    site.note({ ...asked, toldAt: Date.now(), told, status: null, why });
    return told === 'done';
  }

  return async function act(): Promise<unknown> {
    const { clientId } = dice.pick(site.clients);
    const { userId, login } = dice.pick(site.users);
    const args = ['grant', 'revoke', '--login', login, '--client', clientId, '--yes'];
    const action = dice.weighed<() => Promise<unknown>>([
      [3, () => blockForAWhile({ clientId }, 'client', clientId)],
      [2, () => blockForAWhile({ userId }, 'user', login)],
      [3, () => run({ act: 'revokeByOperator', userId, clientId, args })],
    ]);
    return action();
  };
}
