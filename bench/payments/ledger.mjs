import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { carryOutJobs } from '../load/jobs.mjs';
import { require } from '../load/message.mjs';

const RECIPE = await readFile(new URL('../../examples/payments/reserve.sql', import.meta.url), 'utf8');

/** @type {pg.Pool | undefined} */
let pool;

/** Payments by the statement of a wallet's own ledger, over as many connections as a server has. */
carryOutJobs({
  ledger: {
    async ask(_connection, values, { url }) {
      pool ??= new pg.Pool({ connectionString: url, max: 10 });
      const { rows } = await pool.query({ name: 'reserve', text: RECIPE, values });
      require(rows[0].verdict === 'reserved', 'refused', rows[0]);
    },
  },
});
