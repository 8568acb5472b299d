import { lint } from './lint/rules.mjs';

// npm run lint:docs: what documents say of files, names and tests is true, messages are plain English, and src keeps its layers.
// Prints one list, and ends with 1 if it has more than warnings.

const { lines, isSound } = lint(process.argv[2] ?? '.');
for (const line of lines) console.log(line);
process.exitCode = isSound ? 0 : 1;
