import { describe, expect, it } from 'vitest';
import { callAssent } from '../support/call.ts';
import { useDatabase } from '../support/database.ts';
import { onDatabase } from '../support/process.ts';

const database = await useDatabase();
const assent = (args: string, env = {}, stdin = '') =>
  callAssent(args.split(' '), { ...onDatabase(database.url), ...env }, stdin);

describe('commands in one process', () => {
  it('read, write and find their environment where they are told, at the same time', async () => {
    const create = (name: string, uri: string) =>
      `client create --name ${name} --redirect-uri ${uri} --verified`;
    const [json, text, wrong, help, user] = await Promise.all([
      assent(`${create('Json', 'http://json.example/')} --json`, { ASSENT_OPERATOR: 'night' }),
      assent(create('Text', 'http://text.example/'), { ASSENT_OPERATOR: 'day' }),
      assent('client list --nothing --json'),
      assent('client --help --json'),
      assent('user create anna --name Anna --password-stdin', {}, 'the right one\n'),
    ]);
    expect(json).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(json.stdout)).toMatchObject({
      name: 'Json',
      warnings: [expect.stringContaining('unencrypted')],
    });
    expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/^client_id {6}[0-9a-f]{32}\n/) });
    expect(text.stderr).toMatch(/^warning: codes will travel .*\n$/);
    expect(wrong).toEqual({ code: 2, stdout: '', stderr: '{"error":"unknown option \'--nothing\'"}\n' });
    expect(JSON.parse(help.stdout)).toEqual({ help: expect.stringMatching(/^Usage: assent client /) });
    expect(user).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^login {4}anna$/m) });
    const trail = await database.pool.query<{ name: string; operator: string }>(
      `select name, operator from audit_events join clients using (client_id) where kind = 'client_created' order by name`,
    );
    expect(trail.rows).toEqual([
      { name: 'Json', operator: 'night' },
      { name: 'Text', operator: 'day' },
    ]);
  });

  it('give their exit codes back, and leave that of the process alone', async () => {
    expect((await assent('user show nobody')).code).toBe(1);
    expect((await assent('nothing')).code).toBe(2);
    expect(await assent('doctor --json', { BASE_URL: 'http://pay.example' })).toMatchObject({ code: 1 });
    expect(process.exitCode).toBeUndefined();
  });

  it('leave no connection behind, also when they fail', async () => {
    await assent('client list');
    await assent('client show nothing');
    await assent('doctor');
    const others = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    // Well before a pool that was left open would close its idle connections by itself.
    const count = async () => (await database.pool.query(others)).rowCount;
    await expect.poll(count, { timeout: 5_000 }).toBe(0);
  });
});
