import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { readServiceNames } from '../config.ts';
import { changeClient, registerClient } from '../flows/operators/clients.ts';
import { readLogo } from '../operatorFiles.ts';
import { type Ceiling, parseCeiling } from '../rules/ceiling.ts';
import type { Client } from '../rules/client.ts';
import type { Logo } from '../rules/logo.ts';
import { isLoopback } from '../rules/network.ts';
import { FileError } from '../rules/operatorFile.ts';
import { RIGHT_NAMES } from '../rules/scope.ts';
import { type CommandTable, required } from './addCommands.ts';
import { found, printOne, report, UsageError, warn } from './output.ts';
import { withStore } from './withStore.ts';

// `assent client create` and `update`: what an application is registered with.

interface SettingOptions {
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

type CreateOptions = SettingOptions & { name: string; redirectUri: string; verified?: boolean };

const NAME = ['--name <name>', 'the name that users see'] as const;
const REDIRECT_URI = [
  '--redirect-uri <uri>',
  'where browsers are sent back to; requests must name it character by character',
] as const;
const VERIFIED = new Option(
  '--verified',
  'with authenticity verification: the application gets a client secret, and has to use it',
);
const RIGHT = new Option(
  '--right <names...>',
  `the only rights that it may request, or "all" (at first); separated by spaces or commas, and behind any id. There are: ${RIGHT_NAMES.join(', ')}`,
).argParser(readRights);
const MOST = new Option(
  '--most <days,sum>',
  'the longest period and the largest sum that a payment limit may have; or "none" (at first)',
).argParser(readMost);
const SITE = new Option(
  '--site <url>',
  'its own address in the web, https://…, that users see; or "none" (at first)',
);
const LOGO = new Option(
  '--logo <file>',
  'an SVG or PNG file of at most 64 KB, square or up to three times as wide as high, that users see',
);
const NO_LOGO = new Option('--no-logo', 'without a logo (at first)');
const REVIEWED = new Option(
  '--reviewed',
  'you have looked at the application: users see that, and are warned of one that is new to them and not reviewed',
);
const NOT_REVIEWED = new Option('--not-reviewed', 'nobody has looked at it (at first)').conflicts('reviewed');
const USER_LIMITS = new Option(
  '--user-limits',
  'users may lower the sum of a limit for a period; the application has to read “scope” in the answer to its token request',
);
const NO_USER_LIMITS = new Option('--no-user-limits', 'users allow what is asked, or nothing (at first)');
const FORCE = new Option('--force', 'accept a name that could be mistaken for another one');

/** The commands that take settings. */
export const SETTING_COMMANDS: CommandTable = {
  'client create': [
    'register an application; its secret, if it gets one, is shown this once',
    create,
    required(...NAME),
    required(...REDIRECT_URI),
    VERIFIED,
    RIGHT,
    MOST,
    SITE,
    LOGO,
    REVIEWED,
    USER_LIMITS,
    FORCE,
  ],
  'client update <id>': [
    'change an application; consent pages already shown and codes not yet exchanged become invalid, tokens stay valid',
    update,
    new Option(...NAME),
    new Option(...REDIRECT_URI),
    RIGHT,
    MOST,
    SITE,
    LOGO,
    NO_LOGO,
    REVIEWED,
    NOT_REVIEWED,
    USER_LIMITS,
    NO_USER_LIMITS,
    FORCE,
  ],
};

/** "none" stays a word here, because Commander makes an empty text of null. */
function readMost(text: string): Ceiling | 'none' {
  const most = text === 'none' ? text : parseCeiling(text);
  if (most === undefined) {
    throw new InvalidArgumentError('Not days and a sum, such as 30,5000 or 7,999.50, nor "none".');
  }
  return most;
}

function ceilingOf(most: Ceiling | 'none'): Ceiling | null {
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
function rightsOf(names: readonly string[]): readonly string[] | null {
  return names.length === 1 && names[0] === 'all' ? null : names;
}

async function create(options: CreateOptions): Promise<void> {
  const { name, redirectUri, verified = false, right = ['all'], most = 'none' } = options;
  const { userLimits = false, force = false } = options;
  const settings = { name, redirectUri, allowedRights: rightsOf(right), most: ceilingOf(most), userLimits };
  const client = { ...settings, ...faceOf(options), verified };
  const rules = { force, serviceNames: readServiceNames() };
  const registered = await withStore((db, operator) => registerClient(db, client, operator, rules));
  warnOfPlainHttp(redirectUri);
  if (registered.hasNamesake) warnOfNamesake(name);
  const { clientId, clientSecret } = registered;
  printOne({ clientId, name, redirectUri, ...(clientSecret === null ? {} : { clientSecret }) });
}

function warnOfPlainHttp(redirectUri: string): void {
  const { protocol, hostname } = new URL(redirectUri);
  if (protocol !== 'http:' || isLoopback(hostname)) return;
  warn('codes will travel to this redirect URI unencrypted; use https outside a test');
}

function warnOfNamesake(name: string): void {
  warn(`another application has the name “${name}”, too: users can’t tell them apart`);
}

/** What users see beside the name, as far as it is given. */
function faceOf({ site, logo, reviewed, notReviewed }: SettingOptions) {
  return {
    ...(site !== undefined && { site: site === 'none' ? null : site }),
    ...(logo !== undefined && { logo: logo === false ? null : logoIn(logo) }),
    ...((reviewed || notReviewed) && { reviewed: reviewed === true }),
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

async function update(id: string, options: SettingOptions): Promise<void> {
  const { name, redirectUri, right, most, userLimits, force = false } = options;
  const change = {
    ...(name !== undefined && { name }),
    ...(redirectUri !== undefined && { redirectUri }),
    ...faceOf(options),
    ...(right && { allowedRights: rightsOf(right) }),
    ...(most && { most: ceilingOf(most) }),
    ...(userLimits !== undefined && { userLimits }),
  };
  if (Object.keys(change).length === 0) {
    throw new UsageError(
      'say what to change: --name, --redirect-uri, --right, --most, --site, --logo, --no-logo, --reviewed, --not-reviewed, --user-limits or --no-user-limits',
    );
  }
  const rules = { force, serviceNames: readServiceNames() };
  const result = await withStore((db, operator) => changeClient(db, id, change, operator, rules));
  const updated = found(result, 'client', id);
  if (redirectUri !== undefined) warnOfPlainHttp(redirectUri);
  if (updated.hasNamesake) warnOfNamesake(updated.client.name);
  const changed = Object.keys(updated.changed);
  const sentence = changed.length === 0 ? 'there is nothing to change' : `changed ${changed.join(', ')}`;
  report(clientRow(updated.client), sentence);
}

/** An application as commands print it. */
export function clientRow(client: Client) {
  const { clientId, name, redirectUri, verified, status, ...settings } = client;
  const { allowedRights, most, site, logo, reviewed, userLimits } = settings;
  const face = { site, logo, reviewed };
  return { clientId, name, redirectUri, verified, status, allowedRights, most, ...face, userLimits };
}
