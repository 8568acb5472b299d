import { BUILT_IN_RIGHTS } from './rights.ts';
import type { Right } from './scope.ts';

/** Writes a scope by the grammar, in its shortest form: `parseScope(formatScope(rights))` returns `rights`. */
export function formatScope(rights: readonly Right[]): string {
  return rights.map(formatRight).join(' ');
}

function formatRight({ name, target, type, sources, limit }: Right): string {
  const written = type === 'account' && BUILT_IN_RIGHTS.has(name) ? undefined : type;
  const texts = sources ?? [target, written].filter((text) => text !== undefined);
  const named = texts.length === 0 ? '' : `(${texts.map(quote).join(',')})`;
  const limited = !limit || limit.isDefault ? '' : `.limit(${limit.days ?? ''},${limit.sum})`;
  return name + named + limited;
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
