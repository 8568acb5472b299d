import { readFile } from '../support/process/folder.ts';

/** Each step that an operator does by hand, and the sentence of the documents that has it. */
const STEPS = {
  importUsers: ['moving-in.md', 'assent user import users.ndjson --bad bad-users.ndjson'],
  upgrade: ['upgrade.md', 'then restarts `assent-notify` and one replica after the other'],
  migrate: ['upgrade.md', 'migrates the schema while the previous version serves'],
  secrets: ['secrets.md', 'Replace `SECRETS` in three roll-outs.'],
  serverRole: ['secrets.md', "To replace the servers' without downtime, a second role takes over"],
  dropRole: ['secrets.md', 'When all replicas use the new role, drop the old one.'],
  ownersPassword: ['secrets.md', 'Change it in PostgreSQL and in its file'],
  operatorToken: ['alerts.md', 'give its program another token'],
  certificate: ['alerts.md', 'mend it, or tell its owner'],
  resume: ['alerts.md', 'Then run `assent notify resume ID`.'],
  startNotify: ['alerts.md', 'start it, or end the transaction'],
  maintain: ['alerts.md', 'run `systemctl start assent-maintain`'],
  prune: ['maintenance.md', 'With `--keep 37 --yes` it drops older months.'],
  promote: ['alerts.md', 'run `select pg_promote()` on the standby'],
  removeFromList: ['database.md', 'when that standby returns or is removed from the list'],
  commitsLost: ['database.md', 'If the promoted standby may lack commits, stop the servers'],
  rebuildStandbys: ['backup.md', 'Rebuild the standbys'],
  restore: ['backup.md', 'Keep the servers stopped until step 7.'],
  rolesAfterRestore: ['backup.md', 'Set the passwords of the roles to those in the files.'],
  signAllOut: ['backup.md', 'Sign all users out'],
  revokeByTrail: ['backup.md', 'run `assent grant revoke --trail trail-before.jsonl`'],
  repeatByHand: ['backup.md', 'List the other events since T and repeat them by hand'],
  upgradePostgres: ['database.md', 'Stop the standbys, then the primary, and run `pg_upgrade`.'],
  freeSpace: ['503.md', "free space on PostgreSQL's disk"],
  startPostgres: ['503.md', 'start PostgreSQL; check host and port'],
} as const satisfies Readonly<Record<string, readonly [document: string, sentence: string]>>;

export type ByHand = (step: keyof typeof STEPS) => void;

/** Counts what was done by hand. */
export class ManualSteps {
  readonly #counts = new Map<keyof typeof STEPS, number>();

  /** @throws {Error} if a document doesn't have a sentence (any more) */
  constructor() {
    const words = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll('’', "'");
    for (const [document, sentence] of Object.values(STEPS))
      if (!words(readFile(`docs/operate/${document}`)).includes(words(sentence)))
        throw new Error(`docs/operate/${document} does not say “${sentence}”`);
  }

  readonly note: ByHand = (step) => {
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
  };

  /** A line for each: how often, and where it is described. */
  get lines(): string[] {
    return [...this.#counts].map(([step, count]) => {
      const [document, sentence] = STEPS[step];
      return `  ${count} times: “${sentence}” (docs/operate/${document})`;
    });
  }
}
