import { InvalidArgumentError, Option } from 'commander';
import { type Ceiling, parseCeiling } from '../rules/ceiling.ts';
import { RIGHT_NAMES } from '../rules/scope.ts';

// The options of `assent client create` and `update`.

/** What `client create` and `client update` were given. */
export interface SettingOptions {
  readonly name?: string;
  readonly redirectUri?: string;
  readonly right?: readonly string[];
  readonly most?: Ceiling | 'none';
  readonly site?: string;
  readonly logo?: string | false;
  readonly reviewed?: boolean;
  readonly notReviewed?: boolean;
  readonly userLimits?: boolean;
  readonly force?: boolean;
}

export type CreateOptions = SettingOptions & { name: string; redirectUri: string; verified?: boolean };

export const NAME = ['--name <name>', 'the name that users see'] as const;
export const REDIRECT_URI = [
  '--redirect-uri <uri>',
  'where browsers are sent back to; requests must name it character by character',
] as const;
export const VERIFIED = new Option(
  '--verified',
  'with authenticity verification: the application gets a client secret, and has to use it',
);
export const RIGHT = new Option(
  '--right <names...>',
  `the only rights that it may request, or "all" (at first); separated by spaces or commas, and behind any id. There are: ${RIGHT_NAMES.join(', ')}`,
).argParser(readRights);
export const MOST = new Option(
  '--most <days,sum>',
  'the longest period and the largest sum that a payment limit may have; or "none" (at first)',
).argParser(readMost);
export const SITE = new Option(
  '--site <url>',
  'its own address in the web, https://…, that users see; or "none" (at first)',
);
export const LOGO = new Option(
  '--logo <file>',
  'an SVG or PNG file of at most 64 KB, square or up to three times as wide as high, that users see',
);
export const NO_LOGO = new Option('--no-logo', 'without a logo (at first)');
export const REVIEWED = new Option(
  '--reviewed',
  'you have looked at the application: users see that, and are warned of one that is new to them and not reviewed',
);
export const NOT_REVIEWED = new Option('--not-reviewed', 'nobody has looked at it (at first)').conflicts(
  'reviewed',
);
export const USER_LIMITS = new Option(
  '--user-limits',
  'users may lower the sum of a limit for a period; the application has to read “scope” in the answer to its token request',
);
export const NO_USER_LIMITS = new Option(
  '--no-user-limits',
  'users allow what is asked, or nothing (at first)',
);
export const FORCE = new Option('--force', 'accept a name that could be mistaken for another one');

/** "none" stays a word here, because Commander makes an empty text of null. */
function readMost(text: string): Ceiling | 'none' {
  const most = text === 'none' ? text : parseCeiling(text);
  if (most === undefined) {
    throw new InvalidArgumentError('Not days and a sum, such as 30,5000 or 7,999.50, nor "none".');
  }
  return most;
}

export function ceilingOf(most: Ceiling | 'none'): Ceiling | null {
  return most === 'none' ? null : most;
}

/** Commander takes all words behind `--right`, so one that is no right may be the id. */
function readRights(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',');
  const unknown = names.find((name) => !['all', ...RIGHT_NAMES].includes(name));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `“${unknown}” is no right. There are: ${RIGHT_NAMES.join(', ')}, or "all". An id stands before --right.`,
    );
  }
  return [...new Set([...before, ...names])];
}

/** @returns null for all rights */
export function rightsOf(names: readonly string[]): readonly string[] | null {
  return names.length === 1 && names[0] === 'all' ? null : names;
}
