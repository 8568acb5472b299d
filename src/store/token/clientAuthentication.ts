import { IS_ACCEPTED } from '../common/secrets.ts';

// Authenticates applications in a statement over a batch (contract 4.2): fragments for a table `r` with `client_id` and
// `secret_hash`.

/** Joins the application `c` and, if it is the right one, the secret `s`. */
export const JOIN_CLIENT = `
  left join clients c on c.client_id = r.client_id
  left join client_secrets s on s.client_id = r.client_id and s.secret_hash = r.secret_hash and ${IS_ACCEPTED}`;

export const IS_UNKNOWN_OR_BLOCKED = `c.status is distinct from 'active'`;

/** Only verified applications have secrets. */
export const SECRET_IS_WRONG = 'c.verified and s.secret_hash is null';
