import { explainUnfit, type Standby } from '../store/database/standby.ts';
import {
  alwaysWaitedFor,
  findReplicationFacts,
  findStandbyName,
  type ReplicationFacts,
} from '../store/schema/standbyFacts.ts';

/** What an operator is told of the standbys, by `assent doctor` and at the start of a server. */
export interface StandbyFinding {
  readonly level: 'ok' | 'advice' | 'error';
  readonly text: string;
  /** What to do; null when all is well. */
  readonly remedy: string | null;
}

const CHAPTER = 'see "Reading from standbys" in docs/operating.md';

/** Looks at each standby, and at what commits wait for. @throws when the primary is away */
export async function examineStandbys(standbys: readonly Standby[]): Promise<StandbyFinding[]> {
  const [{ positions } = {}] = standbys;
  if (positions === undefined) return [];
  const facts = await findReplicationFacts(positions.primary);
  const findings = await Promise.all(standbys.map((standby) => examine(standby)));
  if (positions.lagMs > 0) return findings;
  const names = await Promise.all(standbys.map(({ pool }) => findStandbyName(pool).catch(() => null)));
  const commits = standbys.map(({ name }, index) => examineCommits(name, names[index] ?? null, facts));
  return [...findings, ...commits];
}

async function examine(standby: Standby): Promise<StandbyFinding> {
  try {
    await standby.check();
    return { level: 'ok', text: `the standby ${standby.name} can answer for this primary`, remedy: null };
  } catch (error) {
    const text = `the standby ${standby.name} is not asked: ${explainUnfit(error)}`;
    return { level: 'error', text, remedy: CHAPTER };
  }
}

/** Whether what is committed has been replayed by a standby when it is answered as done. */
function examineCommits(host: string, name: string | null, facts: ReplicationFacts): StandbyFinding {
  const why = whyNotWaitedFor(name, facts);
  if (why === null)
    return { level: 'ok', text: `every commit waits until ${host} has replayed it`, remedy: null };
  return {
    level: 'advice',
    text: `commits don't wait for the standby ${host}, so that questions wait for it, or go to the primary: ${why}`,
    remedy: CHAPTER,
  };
}

function whyNotWaitedFor(
  name: string | null,
  { synchronousCommit, synchronousStandbyNames, streaming }: ReplicationFacts,
): string | null {
  if (synchronousCommit !== 'remote_apply')
    return `synchronous_commit is ${synchronousCommit}, not remote_apply`;
  const set = `synchronous_standby_names is '${synchronousStandbyNames}'`;
  if (name === null) return `${set}, and this role may not see under which name it follows`;
  const named = name.toLowerCase();
  if (!alwaysWaitedFor(synchronousStandbyNames).includes(named)) {
    return `${set}, by which a commit may go on without ${name}`;
  }
  const namesakes = streaming?.filter((other) => other.toLowerCase() === named).length ?? 1;
  return namesakes > 1 ? `${namesakes} standbys follow as ${name}, and one of them is waited for` : null;
}
