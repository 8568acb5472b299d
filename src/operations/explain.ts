import { z } from 'zod';
import { parseReceiptNumber } from '../rules/account/receiptNumber.ts';
import { OperatorError } from '../rules/common/error.ts';
import { REFUSALS_KEPT_DAYS } from '../rules/common/lifetimes.ts';
import { recordOf } from '../rules/common/recordOf.ts';
import { remedyFor } from '../rules/common/refusals.ts';
import { findClient } from '../store/common/clients.ts';
import { findGrantOfToken } from '../store/common/grants.ts';
import { findRefusals, MAX_FOUND_REFUSALS } from '../store/common/refusals.ts';
import { findAuditEvents } from '../store/operate/auditTrail.ts';
import { locateToken } from '../store/token/introspection.ts';
import { EVENT } from './audit.ts';
import { ID, text } from './fields.ts';
import { describeGrant, GRANT_VIEW } from './grants.ts';
import { ensureFound, listOperation, operation } from './operation.ts';

const REFUSAL = z.object({
  at: z.date(),
  ...recordOf(['reference', 'method', 'path'], z.string()),
  status: z.int(),
  ...recordOf(['error', 'rule'], z.string()),
  ...recordOf(['ruleId', 'clientId', 'clientName'], z.string().nullable()),
  remedy: z.string(),
});

export const explainRefusal = operation({
  summary:
    'explain the reference on an error page: the broken rule and the remedy; or the number on a receipt: what was allowed',
  input: z.strictObject({ reference: text('reference') }),
  output: z.object({
    ...REFUSAL.partial().shape,
    ...EVENT.omit({ id: true, limits: true }).partial().shape,
    ...REFUSAL.pick({ at: true, remedy: true }).shape,
  }),
  effect: 'reads',
  async run({ db }, { reference }) {
    const receipt = parseReceiptNumber(reference);
    for await (const [found = null] of receipt === null ? [] : findAuditEvents(db, receipt, 1)) {
      const event = ensureFound(found?.grantId ? found : null, 'receipt', reference);
      return { ...event, remedy: `See what is left of it: \`assent grant show ${event.grantId}\`.` };
    }
    const [refusal] = await findRefusals(db, { reference: reference.trim().toLowerCase(), clientId: null });
    if (refusal === undefined)
      throw new OperatorError(
        'not_found',
        `no refusal is stored under ${reference}. If it is new, try again in two seconds: refusals are written in batches. Those older than ${REFUSALS_KEPT_DAYS} days, or beyond the number that is kept for one network, are only in the log. A request that succeeded (assent audit --ref ${reference}) or showed its form again has none`,
      );
    return { ...refusal, remedy: remedyFor(refusal.ruleId, refusal) };
  },
});

export const refusals = listOperation({
  summary: `list an application’s last ${MAX_FOUND_REFUSALS} refusals with their remedies, newest first`,
  input: z.strictObject({ clientId: ID }),
  output: REFUSAL.omit({ method: true, clientId: true, clientName: true }),
  async run({ db }, { clientId }) {
    ensureFound(await findClient(db, clientId), 'client', clientId);
    const kept = await findRefusals(db, { reference: null, clientId });
    return [kept.map((refusal) => ({ ...refusal, remedy: remedyFor(refusal.ruleId, refusal) }))];
  },
});

export const showToken = operation({
  summary: 'show state, user and rights of an access token',
  input: z.strictObject({ token: z.string().describe('an access token') }),
  output: z.object({
    token: z.string().describe('the state of its authorization, or why the token is refused'),
    login: z.string().nullable(),
    userId: z.string(),
    clientName: z.string().nullable(),
    ...GRANT_VIEW.shape,
  }),
  effect: 'reads',
  async run({ db }, { token }) {
    const grant = ensureFound(
      await findGrantOfToken(db, await locateToken(db, token.trim())),
      'authorization',
      'of this token: pass an access token of this installation (assent_at_ and 64 characters; assent_ac_ is a code); its user and application must still exist',
    );
    const described = describeGrant(grant);
    return { ...described, token: grant.refused ?? described.state };
  },
});
