/** `npm run bench`: prepares the site, measures each stage's lines, reports, and judges. See README.md. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { comparison } from './comparison.mjs';
import { describeMachine } from './machine.mjs';
import { findPgbench } from './pgbench.mjs';
import { describeProfile, PROFILING } from './profile.mjs';
import { printReport, table } from './report.mjs';
import { POSTGRES_SETTINGS, RESULTS, readSettings } from './settings.mjs';
import { Site } from './site.mjs';
import { against } from './stages/against.mjs';
import { core } from './stages/core.mjs';
import { flood } from './stages/flood.mjs';
import { flows } from './stages/flows.mjs';
import { growth } from './stages/growth.mjs';
import { lists } from './stages/lists.mjs';
import { rest } from './stages/rest.mjs';
import { soak } from './stages/soak.mjs';
import { start } from './stages/start.mjs';
import { judge, targetsFor } from './targets.mjs';

const ALONE = [start, core, flows, rest, flood, lists, soak, growth];
/** Compared with other builds, only the hot path. */
const STAGES = process.argv.some((arg) => arg.startsWith('--against')) ? [against] : ALONE;

const settings = settingsOrExit();
mkdirSync(RESULTS, { recursive: true });
const site = await Site.open(POSTGRES_SETTINGS);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void site.close().finally(() => process.exit(1)));
}
try {
  const report = await measure();
  writeFileSync(settings.out, `${JSON.stringify(report, null, 2)}\n`);
  console.log(printReport(report));
  process.exitCode = isGood(report) ? 0 : 1;
} finally {
  await site.close();
}

function settingsOrExit() {
  try {
    const names = STAGES.flatMap((stage) => stage.names);
    return readSettings(process.argv.slice(2), names);
  } catch (error) {
    console.error(String(error));
    return process.exit(2);
  }
}

async function measure() {
  const wanted = (/** @type {string} */ name) => settings.only?.includes(name) ?? true;
  const machine = await describeMachine(site);
  const database = await site.createDatabase('bench', settings.grants);
  const server = await site.startAssent(database, settings.profile ? PROFILING : []);
  const bench = { site, settings, database, server, loader: site.startLoader(), wanted };
  const lines = {};
  for (const stage of STAGES.filter(({ names }) => names.some(wanted))) {
    const started = performance.now();
    Object.assign(lines, await stage.run(bench));
    process.stderr.write(
      `${stage.names.join(', ')}: ${Math.round((performance.now() - started) / 1000)} s\n`,
    );
  }
  await server.stop();
  return {
    machine,
    settings,
    lines,
    targets: judge(targetsFor(settings), lines),
    notes: [...notesOn(server), ...compared(lines)],
  };
}

/** @param {import('./program.mjs').Program} server */
function notesOn(server) {
  const notes = [];
  if (findPgbench() === undefined)
    notes.push('pgbench is not on this machine: there is no limit to compare with.');
  if (settings.profile) notes.push(describeProfile(server.pid));
  return notes;
}

/** @param {Record<string, import('./rounds.mjs').Result>} lines */
function compared(lines) {
  if (settings.against.length === 0) return [];
  const how =
    "Medians of the rounds' own ratios, and their middle half: a figure is named if all of that half is worse. Whole CPU: server and PostgreSQL.";
  return [table(comparison(lines)), how];
}

/** Every target that was measured is met, and every answer was right. @param {import('./report.mjs').Report} report */
function isGood({ lines, targets }) {
  return (
    targets.every(({ met }) => met !== false) && Object.values(lines).every(({ errors = 0 }) => errors === 0)
  );
}
