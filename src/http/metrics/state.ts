import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { Gauge, type GaugeConfiguration, type Registry } from 'prom-client';
import type { Context } from '../../flows/context.ts';
import type { DatabaseWatch } from '../../flows/databaseWatch.ts';
import { type PoolState, poolsOf, RareFacts, waitingPasswords } from '../../flows/vitals.ts';
import { LANES } from '../../signals/timings.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** Gauges that look when they are asked, and ask nobody for it. `aggregator`: what several processes are together. */
export function describeState(
  app: FastifyInstance,
  registry: Registry,
  context: Context,
  watch: DatabaseWatch,
): void {
  const gauge = (one: Omit<GaugeConfiguration<string>, 'registers'>) =>
    new Gauge<string>({ ...one, registers: [registry] });
  const build = { version, node: process.version };
  gauge({
    name: 'assent_build_info',
    help: 'Always 1, with the version of Assent and of Node.',
    labelNames: Object.keys(build),
    aggregator: 'first',
  }).set(build, 1);
  describeReadiness(app, gauge, watch);
  describePools(gauge, context);
  describeStandbys(gauge, context);
  describeFacts(gauge, new RareFacts(context));
  gauge({
    name: 'assent_password_queue_length',
    help: 'Passwords that wait for their check.',
    labelNames: ['lane'],
    collect() {
      for (const lane of LANES) this.set({ lane }, waitingPasswords(lane));
    },
  });
}

type MakeGauge = (one: Omit<GaugeConfiguration<string>, 'registers'>) => Gauge<string>;

function describeReadiness(app: FastifyInstance, gauge: MakeGauge, watch: DatabaseWatch): void {
  const isDraining = () => app.ending.isAnnounced;
  const flags = {
    assent_database_up: ['0 while the database is away, as the log says it; otherwise 1.', () => watch.isUp],
    assent_draining: ['1 from the signal to end until the end.', isDraining],
    assent_ready: [
      '1 while requests can be carried out: the database is up, and no end is near.',
      () => watch.isUp && !isDraining(),
    ],
  } as const;
  for (const [name, [help, isSo]] of Object.entries(flags)) {
    gauge({
      name,
      help,
      aggregator: name === 'assent_draining' ? 'max' : 'min',
      collect() {
        this.set(Number(isSo()));
      },
    });
  }
}

function describePools(gauge: MakeGauge, context: Context): void {
  const states: Readonly<Record<string, readonly [keyof PoolState, string]>> = {
    assent_pool_max_connections: ['max', 'Connections to PostgreSQL that a pool may have.'],
    assent_pool_connections: ['open', 'Connections that a pool has.'],
    assent_pool_idle_connections: ['idle', 'Connections that nobody uses.'],
    assent_pool_waiting_statements: ['waiting', 'Statements that wait for a connection.'],
  };
  for (const [name, [state, help]] of Object.entries(states)) {
    gauge({
      name,
      help,
      labelNames: ['pool'],
      collect() {
        for (const [pool, found] of Object.entries(poolsOf(context))) this.set({ pool }, found[state]);
      },
    });
  }
}

/** Absent where introspection asks the primary alone. */
function describeStandbys(gauge: MakeGauge, { standbys }: Context): void {
  if (standbys === null) return;
  gauge({
    name: 'assent_standbys_in_use',
    help: 'Standbys of DATABASE_READ_URL that introspection asks at the moment.',
    aggregator: 'min',
    collect() {
      this.set(standbys.inUse);
    },
  });
}

/** Absent until the database has told them, so that no 0 stands for what isn't known. */
function describeFacts(gauge: MakeGauge, facts: RareFacts): void {
  const names = {
    assent_audit_months_ahead: [
      'auditMonthsAhead',
      'Months from now on for which the audit trail has partitions.',
    ],
    assent_schema_version: ['schemaVersion', 'The last migration that the database has.'],
  } as const;
  for (const [name, [fact, help]] of Object.entries(names)) {
    gauge({
      name,
      help,
      aggregator: 'min',
      collect() {
        const { last } = facts;
        if (last === null) this.remove();
        else this.set(last[fact]);
      },
    });
  }
}
