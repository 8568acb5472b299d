import { execFileSync } from 'node:child_process';
import { OURS } from '../build.mjs';
import { freePort } from '../program.mjs';
import { inTurn } from '../rounds.mjs';
import { assentVariables, programOf, SERVE } from '../site.mjs';
import { exchangeRound } from './shared.mjs';

/** Simultaneous exchanges: busy, but not saturated. */
const CONNECTIONS = 16;
const MANY_USERS = `
insert into users (login, login_key, name)
select login, login, 'Many' from (select 'many-' || lpad(n::text, 8, '0') as login from generate_series(1, $1::int) n) many`;

/** The effect of an operator that lists all users over HTTP on exchanges. @type {import('./shared.mjs').Stage} */
export const lists = {
  names: ['lists'],

  async run({ site, settings, loader }) {
    const database = await site.createDatabase('lists', settings.grants);
    await database.db.query(MANY_USERS, [settings.listed]);
    await database.db.query('vacuum analyze users');
    const create = [programOf(OURS), 'operator', 'create', 'bench', '--role', 'reads', '--json'];
    const env = { PATH: process.env.PATH, DATABASE_URL: database.url };
    const { operator_token: token } = JSON.parse(
      execFileSync(process.execPath, create, { env, encoding: 'utf8' }),
    );
    const port = await freePort();
    const variables = { ...assentVariables(database), ADMIN_PORT: String(port), ADMIN_HOST: '127.0.0.1' };
    const server = await site.startServer('assent-lists', SERVE, variables);
    const unlisted = () => exchangeRound({ loader, settings }, server, database, CONNECTIONS);
    const listed = async () => {
      const round = await unlisted();
      return {
        ...round,
        run: (/** @type {() => void} */ onCounting) => whileListing(port, token, () => round.run(onCounting)),
      };
    };
    const lines = [
      { name: 'unlisted', server, loader, prepare: unlisted },
      { name: 'listed', server, loader, prepare: listed },
    ];
    const results = await inTurn(lines, settings.rounds, site.postmaster);
    await server.stop();
    return results;
  },
};

/**
 * Lists users, one page of 1,000 after the other, until the work is done.
 *
 * @template Result @param {number} port @param {string} token @param {() => Promise<Result>} work
 */
async function whileListing(port, token, work) {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  let pages = 0;
  for (let after = ''; !isDone; pages += 1) {
    const url = `http://127.0.0.1:${port}/v1/users?name=Many${after && `&after=${encodeURIComponent(after)}`}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`a list was refused: ${await response.text()}`);
    after = /** @type {{ next: string | null }} */ (await response.json()).next ?? '';
  }
  return { ...(await working), pages };
}
