import { expect, it } from 'vitest';
import { TEXTS } from '../../../src/languages/languages.ts';
import { tokenExpiresAt } from '../../../src/rules/common/lifetimes.ts';
import { actorsAt, signedIn } from '../../support/account.ts';
import { obtainToken, reachConsent, requestOf } from '../../support/flow.ts';
import { useServer } from '../../support/server.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The beginning of this day of UTC, and of the one before. */
const today = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
const yesterday = new Date(today.getTime() - DAY_MS);

const plain = (text: string) => text.replaceAll('\u00a0', ' ');
const dayOf = (time: Date) => plain(TEXTS.en.formats.utcDay(time.toISOString().slice(0, 10)));

const moscow = await useServer({ timeZone: 'Europe/Moscow' });
const newYork = await useServer({ timeZone: 'America/New_York' });

it.each([
  // An hour before midnight in UTC it is the next day in Moscow, an hour after it the day before in New York.
  { server: moscow, at: new Date(today.getTime() - HOUR_MS), day: today, usedOn: yesterday },
  { server: newYork, at: new Date(today.getTime() + HOUR_MS), day: yesterday, usedOn: today },
])('days are shown in local time, except the day of last use, which is in UTC ($usedOn)', async (given) => {
  const { server, at, day, usedOn } = given;
  const { client, user, agent } = await actorsAt(server);
  await obtainToken(agent, client, user);
  await server.database.pool.query(
    'update grants set confirmed_at = $1, token_issued_at = $1, last_used_on = $2',
    [at, usedOn.toISOString().slice(0, 10)],
  );
  const again = await reachConsent(agent, requestOf(client), user);
  expect(again.text).toContain(dayOf(day));
  expect(again.text).toContain(`last used on ${dayOf(usedOn)}`);
  const { text } = await agent.get('/oauth/account');
  expect(text).toMatch(new RegExp(`Allowed on\\s*${dayOf(day)}`));
  expect(text).toMatch(new RegExp(`Last used\\s*${dayOf(usedOn)}`));
  const end = plain(TEXTS.en.formats.day(tokenExpiresAt(at), server.context.timeZone));
  expect(text).toMatch(new RegExp(`Valid until\\s*${end}`));
});

it('times show the name of the zone, in each language', async () => {
  const user = await moscow.createUser();
  const agent = await signedIn(moscow, user);
  const history = await agent.get('/oauth/account/history');
  expect(history.text).toMatch(
    /Times are in Moscow Standard Time\. \d+ \w+ \d{4} You signed in .+, \d\d:\d\d · IP/,
  );
  expect(history.text).not.toMatch(/UTC|GMT/);
  expect((await agent.get('/oauth/account/security')).text).toMatch(/Active today at \d\d:\d\d GMT\+3/);
  const russian = await signedIn(moscow, user, { 'accept-language': 'ru' });
  expect((await russian.get('/oauth/account/history')).text).toMatch(/Время: Москва.+\d\d:\d\d · IP/s);
});
