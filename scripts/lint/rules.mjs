import { openCheckout } from './checkout.mjs';
import * as layers from './layers.mjs';
import * as links from './links.mjs';
import * as names from './names.mjs';
import * as prose from './prose.mjs';
import * as sizes from './sizes.mjs';
import * as sources from './sources.mjs';
import * as trust from './trust.mjs';

const RULES = [links, names, prose, layers, sources, trust, sizes].flatMap((file) => Object.values(file));

/** The place of a finding in the list, and its text there. */
function describe({ read }, { file, at, says, isWarning = false }) {
  const line = at === undefined ? 0 : read(file).slice(0, at).split('\n').length;
  const place = line === 0 ? file : `${file}:${line}`;
  return { file, line, isWarning, text: `${place}  ${isWarning ? 'warning: ' : ''}${says}` };
}

/** What all rules find in the checkout at `root`: warnings first, so that errors stand at the end of a terminal's text. */
export function lint(root) {
  const checkout = openCheckout(root);
  const findings = RULES.flatMap((rule) => rule(checkout)).map((finding) => describe(checkout, finding));
  findings.sort(
    (one, other) =>
      Number(other.isWarning) - Number(one.isWarning) ||
      one.file.localeCompare(other.file) ||
      one.line - other.line,
  );
  const lines = [...new Set(findings.map(({ text }) => text))]; // two rules may say the same
  return { lines, isSound: findings.every(({ isWarning }) => isWarning) };
}
