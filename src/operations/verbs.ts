import * as audit from './audit.ts';
import * as clients from './clients.ts';
import { explainRefusal, refusals, showToken } from './explain.ts';
import * as grants from './grants.ts';
import * as notify from './notify.ts';
import type { AnyOperation } from './operation.ts';
import * as operators from './operators.ts';
import * as resources from './resources.ts';
import * as users from './users.ts';

/** The verbs of operators, by their commands with arguments, from which their endpoints follow, too. `cli/table.ts` adds those that are commands only. */
export const VERBS = {
  'client create': clients.create,
  'client update <id>': clients.update,
  'client list': clients.list,
  'client show <id>': clients.show,
  'client block <id>': clients.block,
  'client unblock <id>': clients.unblock,
  'client delete <id>': clients.remove,
  'client refusals <id>': refusals,
  'client secret add <id>': clients.secret.add,
  'client secret list <id>': clients.secret.list,
  'client secret retire <id> <secret-id>': clients.secret.retire,

  'user create <login>': users.create,
  'user list': users.list,
  'user show <login>': users.show,
  'user update <login>': users.update,
  'user block <login>': users.block,
  'user unblock <login>': users.unblock,
  'user sign-out <login>': users.signOut,
  'user set-password <login>': users.setPassword,
  'user delete <login>': users.remove,

  'resource create': resources.create,
  'resource list': resources.list,
  'resource show <id>': resources.show,
  'resource block <id>': resources.block,
  'resource unblock <id>': resources.unblock,
  'resource delete <id>': resources.remove,
  'resource secret add <id>': resources.secret.add,
  'resource secret list <id>': resources.secret.list,
  'resource secret retire <id> <secret-id>': resources.secret.retire,

  'operator create <name>': operators.create,
  'operator list': operators.list,
  'operator retire <name>': operators.retire,

  'grant list': grants.list,
  'grant show <grant-id>': grants.show,
  'grant revoke [grant-id]': grants.revoke,
  'grant lower <grant-id>': grants.lower,

  audit: audit.show,
  'audit next [cursor]': audit.next,

  'notify resume [client-id]': notify.resume,

  'explain <reference>': explainRefusal,
  'token show': showToken,
} as const satisfies Readonly<Record<string, AnyOperation>>;
