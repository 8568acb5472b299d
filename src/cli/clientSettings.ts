import { resolve } from 'node:path';
import { Option } from 'commander';
import { readServiceNames } from '../config.ts';
import { changeClient, registerClient } from '../flows/operators/clients.ts';
import { readLogo } from '../operatorFiles.ts';
import type { Client } from '../rules/client.ts';
import type { Logo } from '../rules/logo.ts';
import { isLoopback } from '../rules/network.ts';
import { FileError } from '../rules/operatorFile.ts';
import { type CommandTable, required } from './addCommands.ts';
import {
  type CreateOptions,
  ceilingOf,
  FORCE,
  LOGO,
  MOST,
  NAME,
  NO_LOGO,
  NO_USER_LIMITS,
  NOT_REVIEWED,
  REDIRECT_URI,
  REVIEWED,
  RIGHT,
  rightsOf,
  type SettingOptions,
  SITE,
  USER_LIMITS,
  VERIFIED,
} from './clientOptions.ts';
import { found, printOne, report, UsageError, warn } from './output.ts';
import { withStore } from './withStore.ts';

// `assent client create` and `update`: what an application is registered with.

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
