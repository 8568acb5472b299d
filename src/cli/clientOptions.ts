import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { readLogo } from '../config/operatorFiles.ts';
import { type Ceiling, parseCeiling } from '../rules/common/money.ts';
import { FileError } from '../rules/common/operatorFile.ts';
import type { Logo } from '../rules/face/logo.ts';
import { BUILT_IN_RIGHTS } from '../rules/scope/rights.ts';
import type { Options } from './commands.ts';

// The settings of `assent client create` and `update` whose options differ from the operation's fields.

const RIGHT = new Option(
  '--right <names...>',
  `the rights that the application may request, separated by spaces or commas; "all" (default) allows every right; put this option after the id. Rights: ${[...BUILT_IN_RIGHTS.keys()].join(', ')}, and those of CATALOGUE`,
).argParser((text, before?: readonly string[]) => [...new Set([...(before ?? []), ...text.split(',')])]);
const MOST = new Option(
  '--most <days,sum>',
  'the longest period and the largest sum that a payment limit may have, or "none" (default)',
).argParser(readMost);
const LOGO = new Option(
  '--logo <file>',
  'the logo that users see: an SVG or PNG file of at most 64 KB, square or up to three times as wide as high',
);

/** Replaces the options derived from the schemas. */
export const SETTING_OPTIONS = {
  allowedRights: () => [RIGHT],
  most: () => [MOST],
  site: () => [new Option('--site <url>', 'its website, https://…, that users see, or "none" (default)')],
  logo: () => [LOGO],
  eventsUri: (derived: Option) => [
    new Option('--events-uri <uri>', `${derived.description}, or "none" (default)`),
  ],
};

/** The same, plus options that unset a setting. */
export const CHANGE_OPTIONS = {
  ...SETTING_OPTIONS,
  logo: () => [LOGO, new Option('--no-logo', 'remove the logo')],
  reviewed: (derived: Option) => [derived, new Option('--not-reviewed', 'unmark it').conflicts('reviewed')],
};

export function readSettings({ right, most, site, logo, notReviewed, eventsUri }: Options) {
  return {
    ...(site !== undefined && { site: site === 'none' ? null : site }),
    ...(eventsUri !== undefined && { eventsUri: eventsUri === 'none' ? null : eventsUri }),
    ...(logo !== undefined && { logo: logo === false ? null : logoIn(logo) }),
    ...(notReviewed && { reviewed: false }),
    ...(right && { allowedRights: right.length === 1 && right[0] === 'all' ? null : right }),
    ...(most && { most: most === 'none' ? null : most }),
  };
}

function logoIn(file: string): Logo {
  try {
    return readLogo(resolve(file));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new Error(`the logo ${file} ${error.message}`, { cause: error });
  }
}

/** "none" stays a word here: Commander turns null into an empty text. */
function readMost(text: string): Ceiling | 'none' {
  const most = text === 'none' ? text : parseCeiling(text);
  if (most === undefined)
    throw new InvalidArgumentError('Must be days and a sum, such as 30,5000 or 7,999.50, or "none".');
  return most;
}
