import { signIn } from '../support/flow.ts';
import type { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import type { TestUser } from '../support/registrations.ts';
import { hasPromtool } from './alerts.ts';
import { DAY, HOUR, MINUTE } from './clock.ts';
import { type Comparison, inParallel, until } from './comparison.ts';
import { type Installation, TIME_ZONE } from './installation.ts';
import type { Application, Model, Person, Token } from './model.ts';
import type { People } from './people.ts';

/** A quarter has fewer. */
const OPERATOR_DAYS = 95;

export const dayOfUpgrade = '2027-01-18';

/** What happens besides the everyday, at noon of a day (UTC). */
const CALENDAR: readonly (readonly [event: Exclude<keyof Events, 'happen'>, ...days: string[]])[] = [
  ['calmHour', '2026-12-20', '2027-06-15', '2028-04-10', '2029-09-20'],
  ['rotateSecrets', ...eachQuarter('01')],
  ['giveOperatorToken', ...eachQuarter('02')],
  ['upgrade', dayOfUpgrade],
  // In the night after.
  ['changeToOrFromSummerTime', '2027-03-27', '2028-10-28'],
  ['endCertificate', '2027-05-03'],
  ['renewCertificate', '2027-05-04'],
  ['replacePasswords', '2027-06-08', '2029-08-08'],
  ['setClockBack', '2027-07-01'],
  ['secondServerIsSlow', '2027-09-01'],
  ['secondServerIsRight', '2027-11-01'],
  ['operatorTokenEndsSoon', '2027-07-26'],
  // Within a quarter, since a browser is new once after a change of SECRETS.
  ['leaveBrowsers', '2027-10-01'],
  ['explainReference', '2027-10-07', '2027-10-10'],
  ['returnToBrowser', '2027-12-29', '2027-12-31'],
  ['blockApplication', '2027-03-10', '2027-07-10', '2027-11-10', '2028-03-10', '2029-03-10', '2029-11-10'],
  ['notifyStops', '2027-09-14'],
  ['losePrimary', '2027-11-20'],
  ['rebuildStandby', '2027-11-21'],
  ['loseADay', '2028-05-15'],
  ['fillDisk', '2028-08-12'],
  ['upgradePostgres', '2029-02-10'],
  ['trailRunsOut', '2029-04-12'],
  ['expand', '2029-07-10'],
  ['contract', '2029-09-12'],
  // Not in the year without `maintain`, since `migrate` makes partitions, too.
  ['loseCommits', '2029-10-16'],
  ['pruneTrail', '2030-01-02', '2030-02-02', '2030-03-02'],
];

function eachQuarter(month: string): string[] {
  return [2027, 2028, 2029, 2030].flatMap((year) =>
    [0, 3, 6, 9].map((later) => `${year}-${String(Number(month) + later).padStart(2, '0')}-01`),
  );
}

/** Nothing runs `assent maintain` on these days. */
export const isUnmaintained = (day: string) => day >= '2028-06-01' && day < '2029-06-01';

interface Lived {
  readonly at: Installation;
  readonly model: Model;
  readonly people: People;
  readonly comparison: Comparison;
  readonly applications: readonly Application[];
  readonly print: (line: string) => void;
  /** What people and operators do on a day. */
  readonly act: () => Promise<void>;
}

const OUTAGE = ['AssentDatabaseAway', 'AssentUnavailable'];
/** Whether a metric is so, by what a server's `/metrics` says; not if it lacks. */
const metricIs =
  (name: string, isSo: (value: number) => boolean) =>
  (metrics = ''): boolean =>
    isSo(Number(new RegExp(`^${name} (.+)$`, 'm').exec(metrics)?.[1]));
const isAway = metricIs('assent_database_up', (up) => up === 0);
const isLate = metricIs('assent_notify_lag_seconds', (seconds) => seconds > 300);
const isFailing = metricIs('assent_notify_failing', (addresses) => addresses > 0);
const trailEndsSoon = metricIs('assent_audit_months_ahead', (months) => months < 3);
const tokenEndsSoon = metricIs(
  'assent_operator_token_expires_seconds',
  (seconds) => seconds < (14 * DAY) / 1_000,
);

/** What an installation lives through, each on its days. */
export class Events {
  readonly #lived: Lived;
  readonly #operators: { readonly token: string; readonly endsAt: number }[] = [];
  /** Browsers that were used once, by the day of their next use. */
  readonly #left = new Map<string, { readonly browser: Agent; readonly user: TestUser }>();
  #reference = '';

  constructor(lived: Lived) {
    this.#lived = lived;
  }

  /** @param day such as 2028-02-29 */
  async happen(day: string): Promise<void> {
    for (const [event, ...days] of CALENDAR) if (days.includes(day)) await this[event]();
  }

  async calmHour(): Promise<void> {
    await this.#watch({ minutes: 61 });
  }

  async #watch(watch: Parameters<Comparison['watch']>[0]): Promise<void> {
    if (!hasPromtool) return;
    const { at, model, people, comparison } = this.#lived;
    const ask = () =>
      Promise.all(model.tokens.slice(-3).map(({ value }) => people.introspect(value).catch(() => {})));
    const now = at.clock.now();
    const endsSoon = this.#operators.some(({ endsAt }) => endsAt > now && endsAt < now + 14 * DAY);
    const alsoExpected = endsSoon && watch.minutes > 60 ? ['AssentOperatorTokenEnds'] : [];
    await comparison.watch({ act: ask, ...watch, expected: [...(watch.expected ?? []), ...alsoExpected] });
  }

  /** docs/operate/secrets.md: three roll-outs, the last one 45 minutes later. */
  async rotateSecrets(): Promise<void> {
    const { at, model } = this.#lived;
    at.manual.note('secrets');
    const [old = '', made] = [at.secrets[0], newSecret()];
    for (const secrets of [[old, made], [made, old], [made]]) {
      at.secrets = secrets;
      if (secrets.length === 1) at.clock.set(at.clock.now() + HOUR);
      await at.rollOut();
    }
    model.count('SECRETS rotated');
  }

  /** Before the earlier one's token ends. Those before must open nothing. */
  async giveOperatorToken(): Promise<void> {
    const { at, people, comparison } = this.#lived;
    at.manual.note('operatorToken');
    const now = at.clock.now();
    for (const { token } of this.#operators.filter((one) => one.endsAt < now)) {
      const { status } = await at.operate(token, 'GET /v1/users?limit=1');
      if (status !== 401)
        comparison.find('what a token opens', `${status} for an operator's token that has ended`);
    }
    const endsAt = now + OPERATOR_DAYS * DAY;
    people.operator = await at.newOperator(`operator ${this.#operators.length + 1}`, OPERATOR_DAYS);
    this.#operators.push({ token: people.operator, endsAt });
  }

  async operatorTokenEndsSoon(): Promise<void> {
    const { comparison } = this.#lived;
    await this.#watch({ minutes: 62, until: tokenEndsSoon });
    const said = await comparison.said('doctor --json');
    if (!said.some(({ text = '' }) => /operator \d+/.test(text)))
      comparison.find('doctor', 'it does not say that an operator’s token ends soon');
  }

  /** From a build of this repository's history to this one. */
  async upgrade(): Promise<void> {
    const { at, print } = this.#lived;
    if (at.releases.first === undefined)
      print(
        '  not lived through: an earlier release, which is not in the history, or would lack the planted fault',
      );
    await this.#upgradeTo('current');
  }

  async expand(): Promise<void> {
    await this.#upgradeTo('expanded');
  }

  async contract(): Promise<void> {
    await this.#upgradeTo('contracted');
  }

  async #upgradeTo(name: 'current' | 'expanded' | 'contracted'): Promise<void> {
    const { at, model, act } = this.#lived;
    await at.upgrade(at.releases[name], act);
    model.count('upgraded');
  }

  /** Half a minute before and after the change of the night: the history says the times of `TIME_ZONE`. */
  async changeToOrFromSummerTime(): Promise<void> {
    const { at, model, people, comparison, applications } = this.#lived;
    const change = new Date(at.clock.now()).setUTCHours(24 + 1, 0, 0, 0);
    const [application] = applications;
    if (application === undefined) return;
    for (const time of [change - MINUTE / 2, change + MINUTE / 2]) {
      at.clock.set(time);
      const person = await people.newPerson();
      const { issuedAt } = await people.authorize(person, application);
      const local = new Intl.DateTimeFormat('en-GB', {
        timeZone: TIME_ZONE,
        hour: '2-digit',
        minute: '2-digit',
      });
      const [shown, expected] = [await people.historyOf(person), local.format(issuedAt)];
      if (!shown.includes(` ${expected} `))
        comparison.find('what a person can do', `${expected} is not in ${shown}`);
    }
    model.count('summer time changed');
  }

  async endCertificate(): Promise<void> {
    const { at, people, applications } = this.#lived;
    at.letCertificateEnd();
    const [application] = applications;
    if (application) await people.authorize(await people.newPerson(), application); // the wallet must be told
  }

  async renewCertificate(): Promise<void> {
    const { at, applications, comparison } = this.#lived;
    await this.#watch({ minutes: 62, expected: ['AssentWebhooksFail'], until: isFailing });
    at.manual.note('certificate');
    at.renewCertificate();
    at.manual.note('resume');
    for (const id of ['', ...applications.map(({ clientId }) => ` ${clientId}`)])
      await at.tryCommand(`notify resume${id}`, 'server'); // some may not be behind
    await comparison.compareTold();
    comparison.mustBeLogged(/certificate/, 'that a certificate is over');
    comparison.noteOutage(at.clock.now() - 2 * DAY);
  }

  async replacePasswords(): Promise<void> {
    const { at, act } = this.#lived;
    await at.postgres.replaceServerRole(
      () => at.migrate(),
      () => at.rollOut(act),
    );
    await at.postgres.replaceOwnersPassword();
  }

  /** As NTP does it; and one server's clock is wrong. */
  async setClockBack(): Promise<void> {
    const { clock } = this.#lived.at;
    clock.set(clock.now() - 90_000);
    clock.skew('second', 40_000);
  }

  async secondServerIsSlow(): Promise<void> {
    this.#lived.at.clock.skew('second', -40_000);
  }

  async secondServerIsRight(): Promise<void> {
    this.#lived.at.clock.skew('second', 0);
  }

  async blockApplication(): Promise<void> {
    const { at, model, people, comparison, applications } = this.#lived;
    const application = applications[new Date(at.clock.now()).getUTCMonth() % applications.length];
    if (application === undefined) return;
    await people.operate(`POST /v1/clients/${application.clientId}/block`);
    application.isBlocked = true;
    model.count('application blocked');
    model.tellApplication({ grantId: null, application }, 'ended', 'client_blocked');
    await comparison.verify(model.tokens.filter((one) => one.application === application).slice(-20));
    at.clock.set(at.clock.now() + HOUR);
    await people.operate(`POST /v1/clients/${application.clientId}/unblock`);
    application.isBlocked = false;
  }

  /** Two browsers that become known, and a refusal with a reference. */
  async leaveBrowsers(): Promise<void> {
    const { people } = this.#lived;
    for (const day of ['2027-12-29', '2027-12-31']) {
      const [user, browser] = [await people.newUser(), people.newBrowser()];
      await signIn(browser, user.login, user.password);
      this.#left.set(day, { browser, user });
    }
    const { headers } = await people.newBrowser().get('/oauth/authorize?client_id=unknown');
    this.#reference = headers.get('x-request-id') ?? '';
    await until(() => this.#isExplained()); // servers note refusals every few seconds
  }

  /** A browser is known for 90 days: only from then on a sign-in is told as that of a new one. */
  async returnToBrowser(): Promise<void> {
    const { at, model, comparison } = this.#lived;
    const day = new Date(at.clock.now()).toISOString().slice(0, 10);
    const left = this.#left.get(day);
    if (left === undefined) return;
    const { browser, user } = left;
    const expected = day === '2027-12-31' ? 2 : 1;
    browser.cookies.delete('session');
    await signIn(browser, user.login, user.password);
    const told = () => comparison.toldTo('wallet').get(`${user.userId} new_browser`) ?? 0;
    await until(() => told() === expected);
    await comparison.compareTold();
    if (told() !== expected)
      comparison.find('what is told', `a new browser, ${told()} times instead of ${expected}`);
    model.count('browser used again');
  }

  async explainReference(): Promise<void> {
    const { at, comparison } = this.#lived;
    const isKept = new Date(at.clock.now()).getUTCDate() < 8;
    if ((await this.#isExplained()) !== isKept)
      comparison.find('what a person can do', `explained: ${!isKept}, the reference ${this.#reference}`);
  }

  async #isExplained(): Promise<boolean> {
    const { code } = await this.#lived.at.tryCommand(`explain ${this.#reference}`, 'server');
    return code === 0;
  }

  async notifyStops(): Promise<void> {
    const { at, act, comparison } = this.#lived;
    await at.stopNotify();
    await act();
    at.clock.set(at.clock.now() + 10 * MINUTE);
    await this.#watch({ minutes: 7, expected: ['AssentWebhooksLate'], until: isLate });
    at.manual.note('startNotify');
    await at.startNotify();
    await comparison.compareTold();
  }

  /** People go on meanwhile; the standby takes over minutes later. */
  async losePrimary(): Promise<void> {
    const { at, comparison } = this.#lived;
    await this.#outage(async () => {
      await at.postgres.killPrimary();
      await this.#watch({ minutes: 5, expected: OUTAGE, until: isAway });
      await at.postgres.promoteStandby();
    });
    comparison.mustBeLogged(/the database is unreachable/, 'that the primary is lost');
  }

  /**
   * Revocations and payments before, during and after it. An answer 503 says that nothing was done, but it may have been if the
   * connection was lost (docs/operate/503.md): what is so afterwards must have been told, too.
   */
  async #outage(lose: () => Promise<void>): Promise<void> {
    const { at, model, people, comparison } = this.#lived;
    const now = at.clock.now();
    const tokens = model.tokens.filter((one) => model.isActive(one, now)).slice(0, 60);
    const unsure: Token[] = [];
    const giveUp = inParallel(tokens, (token) =>
      people.giveUp(token).catch(() => {
        unsure.push(token);
      }),
    );
    await lose();
    await giveUp;
    await at.untilReady();
    for (const token of unsure) {
      const { active } = await people.introspect(token.value);
      if (!active) model.end(token, 'application');
    }
    await comparison.verify(model.tokens.slice(-200));
    await comparison.compareTold();
    comparison.noteOutage(now);
  }

  async rebuildStandby(): Promise<void> {
    const { at } = this.#lived;
    at.manual.note('rebuildStandbys');
    await at.postgres.rebuildStandby();
  }

  async fillDisk(): Promise<void> {
    const { at, model, people, print, comparison } = this.#lived;
    const { login = '', password = '' } = model.people.find((one) => model.canSignIn(one))?.user ?? {};
    const from = at.clock.now();
    const isSaid = () => at.log.some((line) => line.includes('the disk of PostgreSQL is full'));
    const isDone = await at.postgres.onSmallDisk(async (disk) => {
      await at.untilReady();
      await this.#outage(async () => {
        disk.fill();
        // New rows need space, sooner or later.
        for (let tries = 0; tries < 1_000 && !isSaid(); tries += 1)
          await signIn(people.newBrowser(), login, password).catch(() => {});
        if (!isSaid()) comparison.find('doctor', 'no log says that the disk is full');
        await disk.fillWal().catch(() => {});
        await this.#watch({ minutes: 5, expected: OUTAGE, until: isAway });
        await disk.free();
      });
    });
    await at.untilReady();
    comparison.noteOutage(from);
    if (!isDone) return print('  not lived through: a full disk, which only root can mount');
    model.count('disk full');
  }

  /** Servers and `assent notify` run meanwhile. */
  async upgradePostgres(): Promise<void> {
    const { at, model, print, comparison } = this.#lived;
    const from = at.clock.now();
    const isDone = await at.postgres.upgrade();
    if (!isDone)
      return print('  not lived through: pg_upgrade, for which Debian’s PostgreSQL 17 and 18 are needed');
    await at.untilReady();
    await comparison.verify(model.tokens.slice(-200));
    model.count('PostgreSQL upgraded');
    comparison.noteOutage(from);
  }

  async trailRunsOut(): Promise<void> {
    await this.#watch({ minutes: 62, expected: ['AssentTrailRunsOut'], until: trailEndsSoon });
  }

  async pruneTrail(): Promise<void> {
    const { at, model, comparison } = this.#lived;
    at.manual.note('prune');
    const first = 'select min(at)::text as oldest from audit_events';
    await at.command('maintain --keep 37 --yes --json');
    model.count('trail pruned');
    const [{ oldest } = { oldest: '' }] = await at.postgres.query<{ oldest: string }>(first);
    const kept = new Date(at.clock.now());
    kept.setUTCMonth(kept.getUTCMonth() - 37, 1);
    if (oldest < kept.toISOString().slice(0, 10)) comparison.find('doctor', `the trail still has ${oldest}`);
  }

  /** A backup at night, and a restore. */
  async loseADay(): Promise<void> {
    const { at } = this.#lived;
    await at.backUp();
    await this.#lose(() => at.restoreBackup());
  }

  /** The primary is lost while its standby lacks commits. */
  async loseCommits(): Promise<void> {
    const { at } = this.#lived;
    await at.postgres.leaveStandbyBehind();
    at.manual.note('commitsLost');
    await this.#lose(() => at.postgres.loseCommits());
  }

  /** Lives a day of which nothing may live after `bringBack`, which makes the database as it is now. */
  async #lose(bringBack: () => Promise<void>): Promise<void> {
    const { at, model, comparison, act } = this.#lived;
    const now = Math.floor(at.clock.now() / 1_000) * 1_000; // `iat` is in whole seconds
    await at.copyTrail();
    const live = new Set(model.tokens.filter((one) => model.isLive(one, now)));
    const backup = { at: now, live, limits: new Map(model.tokens.map((one) => [one, one.limit])) };
    const people = new Set(model.people);
    const before = new Map(model.people.map((one) => [one, { ...one }]));
    const formerRole = at.postgres.serverRole;
    await act();
    await this.#changeOneEach();
    await this.replacePasswords();
    await comparison.compareTold();
    await at.copyTrail();
    const revoked = model.restore(backup);
    await at.restore(bringBack, async () => {
      for (const person of model.people) await this.#repeat(person, before.get(person));
    });
    await at.postgres.dropRole(formerRole);
    for (const person of model.people) if (!people.has(person)) person.isDeleted = true;
    await comparison.verify([...live, ...model.tokens.slice(-50)]);
    const untold = () =>
      revoked.filter(
        ({ grantId }) => !comparison.toldTo('application').has(`authorization.ended ${grantId} operator`),
      );
    await until(() => untold().length === 0);
    for (const { grantId } of untold())
      comparison.find('what is told', `${grantId} was revoked after a restore`);
    comparison.noteOutage(now);
    // Some is told twice, with the same ids, and what was undone was told, too.
    for (const whom of ['application', 'wallet'] as const) {
      model.told[whom].clear();
      for (const [key, count] of comparison.toldTo(whom)) model.told[whom].set(key, count);
    }
  }

  /** Each change that is undone with an earlier database, of another person. */
  async #changeOneEach(): Promise<void> {
    const { at, model, people, applications } = this.#lived;
    const [now, [application]] = [at.clock.now(), applications];
    const isWanted = (token: Token) =>
      model.isActive(token, now) && token.limit > 10 && token.until === undefined;
    const tokens = model.people.flatMap((person) => person.tokens.find(isWanted) ?? []);
    const changes: readonly ((token: Token) => Promise<unknown>)[] = [
      (token) => people.authorize(token.person, token.application),
      (token) => people.giveUp(token),
      (token) => people.disconnect(token),
      (token) => people.revoke(token),
      (token) => people.lower(token),
      ({ person }) => people.block(person),
      ({ person }) => people.losePassword(person),
      ({ person }) => people.delete(person),
    ];
    for (const [index, change] of changes.entries()) {
      const token = tokens[index];
      if (token !== undefined) await change(token);
    }
    if (application !== undefined) await people.authorize(await people.newPerson(), application);
  }

  /** What an operator repeats by hand after a restore, from the copy of the trail. */
  async #repeat(person: Person, before: Person | undefined): Promise<void> {
    if (before === undefined) return;
    const { isBlocked, isDeleted, user } = person;
    const command = (line: string, stdin?: string) => this.#lived.at.command(line, undefined, stdin);
    if (user.password !== before.user.password)
      await command(`user set-password ${user.userId} --password-stdin --json`, `${user.password}\n`);
    if (isDeleted && !before.isDeleted) await command(`user delete ${user.userId} --yes --json`);
    else if (isBlocked !== before.isBlocked)
      await command(`user ${isBlocked ? 'block' : 'unblock'} ${user.userId} --json`);
  }
}
