import { expect, it } from 'vitest';
import { useDatabase } from '../support/postgres/database.ts';
import { onDatabase, spawnServer } from '../support/process/process.ts';

const database = await useDatabase();

it('a server prints only log lines, each with its own time', async () => {
  const started = Date.now();
  const server = await spawnServer({ ...onDatabase(database.url), LOG_LEVEL: 'info' });
  await fetch(`${server.baseUrl}/oauth/authorize`);
  await server.stop();
  const lines = server.output().trimEnd().split('\n');
  // What the engine says by itself would stand here too, for example that it knows one of our flags no more.
  const times = lines.map((line) => JSON.parse(line).time as string);
  expect(times).toEqual(times.map((time) => new Date(time).toISOString()).toSorted());
  expect(Date.parse(times.at(0) ?? '')).toBeGreaterThanOrEqual(started);
  expect(Date.parse(times.at(-1) ?? '')).toBeLessThanOrEqual(Date.now());
  expect(new Set(times).size).toBeGreaterThan(1);
});

it('a server warns at its start about plain http on another host, and not on localhost', async () => {
  const warningsOf = async (more: Record<string, string>) => {
    const server = await spawnServer({ ...onDatabase(database.url), ...more });
    await server.stop();
    const lines = server.output().trimEnd().split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line)).map(({ level, msg }) => ({ level, msg }));
  };
  expect(await warningsOf({})).toEqual([]);
  const msg = 'BASE_URL http://pay.example is plain http: passwords, codes and tokens travel unencrypted.';
  expect(await warningsOf({ BASE_URL: 'http://pay.example' })).toEqual([{ level: 'warn', msg }]);
});
