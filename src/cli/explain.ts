import { findRefusal } from '../flows/refusals.ts';
import { remedyFor } from '../flows/remedies.ts';
import { REFUSALS_KEPT_DAYS } from '../rules/lifetimes.ts';
import type { CommandTable } from './addCommands.ts';
import { NotFoundError, printOne } from './output.ts';
import { withStore } from './withStore.ts';

/** `assent explain REF`: what the reference on an error page stands for, without a log at hand */
export const EXPLAIN_COMMANDS: CommandTable = {
  'explain <reference>': [
    'say for the reference on an error page which rule was broken, and what to do',
    explain,
  ],
};

async function explain(reference: string): Promise<void> {
  const refusal = await withStore((db) => findRefusal(db, reference.toLowerCase()));
  if (refusal === null) {
    throw new NotFoundError(
      `no refusal is kept under ${reference}: it is older than ${REFUSALS_KEPT_DAYS} days, or came with too many others, and then only the log has it; or the request went well (assent audit --ref ${reference}), or had a form shown again, as after a wrong password`,
    );
  }
  const { at, method, path, status, error, rule } = refusal;
  printOne({
    reference: refusal.reference,
    at,
    method,
    path,
    status,
    error,
    rule,
    remedy: remedyFor(refusal),
  });
}
