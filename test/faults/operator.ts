import { setTimeout as sleep } from 'node:timers/promises';
import { parseToken } from '../../src/secrets/tokens.ts';
import { runAssent } from '../support/process/process.ts';
import { Browser } from './browser.ts';
import type { Dice } from './dice.ts';
import type { Asked } from './journal.ts';
import type { Population } from './population.ts';
import type { Site } from './site.ts';

type Task = Pick<Asked, 'act' | 'userId' | 'clientId' | 'mayBeIdle'> & { readonly args: readonly string[] };

const MAX_ASKED = 20;

/** An operator at a command line, who blocks, unblocks and revokes. */
export function operator(site: Site, people: Population, dice: Dice) {
  const resourceServer = new Browser(site, { actor: 'resource server' }, dice);
  let commands = 0;
  const nextName = () => `faults-${commands++}`;

  /** Ends only when it is unblocked: what is blocked for good is no load. */
  async function blockForAWhile(subject: Partial<Asked>, noun: string, id: string): Promise<void> {
    const mayBeIdle = !(await run({ ...subject, act: 'block', args: [noun, 'block', id] }));
    if (!mayBeIdle) await askForTokensOf(subject);
    await sleep(dice.below(300));
    const name = nextName();
    const unblock = { ...subject, mayBeIdle, act: 'unblock', args: [noun, 'unblock', id] } as const;
    while (!(await run(unblock, name)));
  }

  /** The newest tokens of who is blocked: none may be accepted. */
  async function askForTokensOf(subject: Partial<Asked>): Promise<void> {
    const isTheirs = (token: string) => {
      const owner = site.owners.get(parseToken('token', token).grantId ?? '');
      return (
        owner?.[subject.clientId === undefined ? 'userId' : 'clientId'] ===
        (subject.clientId ?? subject.userId)
      );
    };
    const tokens = [...site.tokens].filter(isTheirs).slice(-MAX_ASKED);
    const asks = (token: string) =>
      resourceServer.post('/oauth/introspect', { token }, { authorization: people.resource });
    await Promise.allSettled(tokens.map(asks));
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

  return async function act(): Promise<void> {
    const { clientId } = dice.pick(people.clients);
    const { userId, login } = dice.pick(people.users);
    const action = dice.weighed({ blockClient: 3, blockUser: 2, revoke: 3 });
    if (action === 'blockClient') return blockForAWhile({ clientId }, 'client', clientId);
    if (action === 'blockUser') return blockForAWhile({ userId }, 'user', login);
    const args = ['grant', 'revoke', '--login', login, '--client', clientId, '--yes'];
    await run({ act: 'revokeByOperator', userId, clientId, args });
  };
}
