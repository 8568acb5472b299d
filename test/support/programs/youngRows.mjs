import { getHeapSpaceStatistics } from 'node:v8';
import { openDatabase, withConnection } from '../../../dist/store/database/database.js';
import { send } from '../../../dist/store/database/query.js';

// Prints by how many bytes old objects grew while 50 answers of a megabyte were read. In a process of its own: V8 allocates
// objects as old ones where earlier ones lived long, and in a thread of many tests they do.

/** A megabyte of objects. */
const TEN_THOUSAND_ROWS = 'select n, md5(n::text) as text from generate_series(1, 10000) n';

const [url] = process.argv.slice(2);
const pool = openDatabase(url);
const read = () => withConnection(pool, (connection) => send(connection, TEN_THOUSAND_ROWS));
const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size;

await read();
let grown = 0; // summed, because a full collection in between makes the whole difference smaller
for (let count = 0; count < 50; count += 1) {
  const before = oldBytes();
  await read();
  globalThis.gc({ type: 'minor' });
  grown += Math.max(0, oldBytes() - before);
}
await pool.end();
console.log(grown);
