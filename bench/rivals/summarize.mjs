/** Prints the tables of earlier results:   node bench/rivals/summarize.mjs FILE… */
import { readFileSync } from 'node:fs';
import { summarize } from './summary.mjs';

console.log(summarize(process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')))));
