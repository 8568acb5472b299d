import { z } from 'zod';
import { MAX_CUSTOM_RIGHTS } from '../rules/common/limits.ts';
import { createLookAlikeIndex } from '../rules/common/lookAlike.ts';
import { FileError, parseJson, parseOperatorFile } from '../rules/common/operatorFile.ts';
import { type PerLanguage, perLanguage } from '../rules/common/perLanguage.ts';
import { BUILT_IN_RIGHTS, isRightName, LIFTABLE, type RightKind } from '../rules/scope/rights.ts';

/** A right on offer. */
export type OfferedRight = RightKind & {
  /** The sentence after "It will be able to", where `{target}` stands for the shop or account; null for the built-in one. */
  readonly text: PerLanguage | null;
};

export type Catalogue = ReadonlyMap<string, OfferedRight>;

/** All rights of this API family. An operator's file (`CATALOGUE`) replaces it: it may offer fewer, and has rights of its own. */
export const BUILT_IN_CATALOGUE: Catalogue = new Map(
  [...BUILT_IN_RIGHTS].map(([name, kind]) => [name, { ...kind, text: null }]),
);

const NAME_RULE =
  'must have 1 to 64 characters of a-z, 0-9 and :._-, begin with a letter, not end with .limit, and not be payment';
const LIFTS = z.enum(LIFTABLE, `must be one of ${LIFTABLE.join(', ')}`);
const SENTENCE = perLanguage(300);
const SOURCE = perLanguage(100);

/** `money-source`: its text, or an object that names the sources, too, as a bank has accounts. */
const SOURCES = z.preprocess(
  (value) => (Object.hasOwn(Object(value), 'text') ? value : { text: value }),
  z.strictObject({
    text: SENTENCE,
    sources: z.strictObject({ wallet: SOURCE, card: SOURCE }, 'must name both wallet and card').optional(),
  }),
);

/** A right of the operator's own. Without `lifts` no page promises what it can't do, as far as it spends or sees. */
const OWN = z
  .strictObject(
    {
      text: SENTENCE,
      spends: z.boolean('must be true or false').default(false),
      names: z.enum(['shop', 'account'], 'must be "shop" or "account", or omitted').optional(),
      lifts: z.array(LIFTS, 'must be a list').optional(),
      part_of: z.string('must be the name of a right').optional(),
    },
    'is not built in: it must be an object with a text, as docs/integrate/scopes.md#rights-of-your-own shows',
  )
  .transform(({ part_of: isPartOf, lifts, ...right }) => {
    const all = LIFTABLE.filter((bound) => right.spends || bound.startsWith('see_'));
    return { ...right, isPartOf, lifts: lifts ?? all };
  });

/** The schema of one right in a file. The user must see the receiver of a payment, so its sentence has the target. */
function schemaOf(name: string) {
  const kind = BUILT_IN_RIGHTS.get(name);
  const builtIn = name === 'money-source' ? SOURCES : SENTENCE.transform((text) => ({ text }));
  const schema = kind ? builtIn : isRightName(name) ? OWN : z.never(NAME_RULE);
  return schema.transform((right, context) => {
    const offered = { lifts: [], ...right, ...kind };
    const parts = offered.names === undefined ? 1 : 2;
    const message =
      parts === 1 ? 'must not have {target}: the right has no target' : 'must have {target} once';
    if (Object.values(right.text).some((text) => text.split('{target}').length !== parts))
      context.addIssue({ code: 'custom', path: kind ? [] : ['text'], message });
    return offered;
  });
}

/** Checks what only the whole file shows. A part stands after its whole, so that there is no cycle. */
function together(
  file: Readonly<Record<string, OfferedRight & { text: PerLanguage }>>,
  context: z.RefinementCtx,
): Catalogue {
  const fail = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  const [rights, looks] = [new Map<string, OfferedRight>(), createLookAlikeIndex()];
  for (const [name, right] of Object.entries(file)) {
    const isOwn = !BUILT_IN_RIGHTS.has(name);
    const texts = Object.values(right.text);
    const [twin] = texts.flatMap((text) => looks.like(text));
    if (isOwn && twin !== undefined) fail([name, 'text'], `looks like another right’s, “${twin}”`);
    for (const text of texts) looks.add(text);
    if (right.isPartOf !== undefined && isOwn && !rights.has(right.isPartOf))
      fail([name, 'part_of'], 'must be a right defined earlier in this file');
    rights.set(name, right);
  }
  return rights;
}

/** Parses an operator's catalogue: a sentence for each built-in right, and rights of its own. @throws {FileError} with its mistakes */
export function parseCatalogue(json: string): Catalogue {
  const names = Object.keys(Object(parseJson(json)));
  const own = names.filter((name) => !BUILT_IN_RIGHTS.has(name));
  if (own.length > MAX_CUSTOM_RIGHTS) throw new FileError([`may define at most ${MAX_CUSTOM_RIGHTS} rights`]);
  const inOrder = [...BUILT_IN_RIGHTS.keys(), ...own].filter((name) => names.includes(name));
  const shape = Object.fromEntries(inOrder.map((name) => [name, schemaOf(name)]));
  const schema = z.object(shape, 'must be an object of rights by name').transform(together);
  return parseOperatorFile(schema, json);
}
