import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { plant } from '../support/postgres/plant.ts';
import { commandsOf } from '../support/process/commands.ts';
import { useFolder } from '../support/process/folder.ts';
import { useServer } from '../support/server.ts';
import { isLive } from '../support/state.ts';

const server = await useServer();
const { database } = server;
const folder = useFolder();
const client = await server.createClient();
const user = await server.createUser();
const agent = new Agent(server.baseUrl);
const resource = await server.createResource();

const { assent, json, refused } = commandsOf(database);
const revoke = (which: string) => json(`grant revoke ${which}`);

const active = (...tokens: string[]) => Promise.all(tokens.map((token) => isLive(server, resource, token)));

it('assent grant revoke revokes the grants before or since a time, only with --yes', async () => {
  const first = await obtainToken(agent, client, user, { instance_name: 'first' });
  const { rows } = await database.pool.query<{ now: Date }>('select clock_timestamp() as now');
  const between = rows[0]?.now.toISOString();
  const last = await obtainToken(agent, client, user, { instance_name: 'last' });
  const question = 'nothing was done: pass --yes to revoke 1 authorization\n';
  expect(await refused(`grant revoke --until ${between}`, 2)).toBe(question);
  expect(await active(first, last)).toEqual([true, true]);
  expect(await revoke(`--until ${between} --yes`)).toMatchObject({ revoked: 1, until: between });
  expect(await active(first, last)).toEqual([false, true]);
  const since = `--since ${between} --client ${client.clientId}`;
  expect(await revoke(`${since} --yes`)).toMatchObject({ revoked: 1 });
  expect(await active(last)).toEqual([false]);
});

describe('assent grant revoke --trail, after a restore', () => {
  it('revokes exactly the grants that the trail shows as ended, lowered or replaced after the backup', async () => {
    const file = join(folder, 'trail.jsonl');
    // An event is exported once no older transaction runs in the cluster, which other tests use too.
    const followUntil = (ended: number) =>
      expect
        .poll(async () => {
          appendFileSync(file, (await assent(`audit next ${lastPlace(file)}`)).stdout);
          return readFileSync(file, 'utf8').match(ENDING)?.length;
        })
        .toBe(ended);
    writeFileSync(file, (await assent('audit next')).stdout);
    const tokenOf = (instance_name: string) => obtainToken(agent, client, user, { instance_name });
    const [kept, revoked] = [await tokenOf('kept'), await tokenOf('revoked')];
    const [replaced, again] = [await tokenOf('replaced'), await tokenOf('again')];
    const lowered = await tokenOf('lowered');
    const scope = 'account-info operation-history payment-shop.limit(7,5000)';
    const before = await obtainToken(agent, client, user, { instance_name: 'lowered before', scope });
    const lower = async (instance: string, scope = 'account-info') => {
      const { rows } = await database.pool.query('select grant_id from grants where instance_name = $1', [
        instance,
      ]);
      await json(`grant lower ${rows[0].grant_id} --scope "${scope}"`);
    };
    await lower('lowered before', 'account-info operation-history');
    await lower('lowered before');
    await followUntil(8);
    await anHourLater(file);
    await plant(database, 'create table saved as select * from grants');
    const form = { token: revoked, client_id: client.clientId, client_secret: client.clientSecret ?? '' };
    expect((await agent.post('/oauth/revoke', form)).status).toBe(200);
    await tokenOf('replaced');
    await tokenOf('again');
    await lower('lowered');
    await followUntil(8 + 4);
    appendFileSync(file, '{"torn');

    await plant(database, 'delete from grants', 'insert into grants select * from saved', 'drop table saved');
    expect(await active(kept, revoked, replaced, lowered)).toEqual([true, true, true, true]);
    const anew = await tokenOf('again'); // issued after the restore
    const asked = await refused(`grant revoke --trail ${file}`, 2);
    expect(asked).toContain('pass --yes to revoke 3 authorizations');
    expect(await revoke(`--trail ${file} --yes`)).toMatchObject({
      revoked: 3,
      trail: file,
      warnings: [expect.stringMatching(/^lines that can't be read: 1 in /)],
    });
    const isLeft = [true, true, false, false, false, false, true];
    expect(await active(kept, before, lowered, revoked, replaced, again, anew)).toEqual(isLeft);
    expect(await revoke(`--trail ${file} --yes`)).toMatchObject({ revoked: 0 });
  });
});

/** Events of this test's tokens that may end an authorization. */
const ENDING =
  /"outcome":"(approved|approved_again|revoked_by_application|lowered_by_operator)".*"instance_name":"(kept|revoked|replaced|again|lowered|lowered before)"/g;

/** The last line of `assent audit next` is the next place, also in a file to which its output is appended. */
function lastPlace(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '';
}

/** Makes grants and exported events an hour older; an event may be some seconds later than its row. */
async function anHourLater(file: string): Promise<void> {
  const earlier = (time: string) => new Date(Date.parse(time) - 3_600_000 + 5_000).toISOString();
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/(?<="at":")[^"]+/g, earlier));
  const columns = ['confirmed_at', 'code_expires_at', 'token_issued_at'];
  await plant(
    database,
    `update grants set ${columns.map((one) => `${one} = ${one} - interval '1 hour'`).join(', ')}`,
  );
}
