import { stripLanguageMarks } from '../../languages/foreign.ts';
import { builtInSentence } from '../../languages/rights.ts';
import { memoize } from '../../rules/common/memoize.ts';
import { nameOfTarget } from '../../rules/face/directory.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { parseScopeCached, type Right } from '../../rules/scope/scope.ts';
import { hexOf, sha256 } from '../../secrets/digest.ts';
import type { Context } from './context.ts';

const digestsIn = memoize(({ catalogue, directory, currency, furtherLimits, languages }: Context) =>
  memoize((scope: string) => {
    const textsOfRight = (right: Right) => [
      catalogue.get(right.name),
      // The marks of languages are this process's own.
      languages.all.map(({ texts }) => stripLanguageMarks(builtInSentence(right.name, texts) ?? '')),
      nameOfTarget(directory, right),
    ];
    const said = parseScopeCached(scope, currency).map(textsOfRight);
    return hexOf(sha256(JSON.stringify([currency, catalogue.get('money-source'), said, ...furtherLimits])));
  }),
);

/** A digest of what pages say of a request's rights, in all languages, and which limits they offer to lower: until the answer, another server's settings may differ. */
export const textDigestOf = (context: Context, { scope }: AuthorizationRequest): string =>
  digestsIn(context)(scope);
