import { expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { onDatabase, spawnServer } from '../support/process.ts';

const database = await useDatabase();

it('a server prints lines of its log and nothing else, each with the time at which it was written', async () => {
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
