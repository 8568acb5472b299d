import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../support/postgres/database.ts';
import { CHECKOUT, readFile as read, useFolder } from '../support/process/folder.ts';
import { onDatabase, spawnServer } from '../support/process/process.ts';

// The package of `npm pack`, with the dependencies of the checkout instead of installed ones.

const { version } = JSON.parse(read('package.json')) as { version: string };
const folder = useFolder();

const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
  cwd: CHECKOUT,
  encoding: 'utf8',
});
const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: { path: string }[] }];
const paths = files.map(({ path }) => path);

describe('the npm package', () => {
  it('has only the expected files, and no source maps, images or type declarations', () => {
    const parts = [...new Set(paths.map((path) => path.split('/')[0]))];
    const single = ['CHANGELOG.md', 'README.md', 'package.json'];
    const folders = ['bin', 'demo', 'deploy', 'dist', 'docs', 'examples', 'migrations', 'scripts', 'views'];
    expect(parts.toSorted()).toEqual([...single, ...folders].toSorted());
    expect(paths.filter((path) => path.startsWith('scripts/'))).toEqual(['scripts/prepare.mjs']);
    expect(paths.filter((path) => /\.(map|png)$|^dist\/.*\.ts$|node_modules/.test(path))).toEqual([]);
  });

  it('runs from another folder: it migrates, is ready, and shows a page with its style', async () => {
    execFileSync('tar', ['xf', join(folder, filename), '-C', folder]);
    symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'package', 'node_modules'), 'junction');
    const { url } = await useDatabase();
    const server = await spawnServer(onDatabase(url), 'ready', join(folder, 'package', 'bin', 'assent.js'));
    const page = await (await fetch(`${server.baseUrl}/oauth/account`)).text();
    const style = /href="(\/oauth\/style-[^"]+)"/.exec(page)?.[1];
    expect((await fetch(`${server.baseUrl}${style}`)).headers.get('content-type')).toMatch(/^text\/css/);
    expect(await server.stop()).toBe(0);
  });
});

it('package.json has the same version as the lock file, the image and the changelog', () => {
  expect(read('Dockerfile')).toContain(`org.opencontainers.image.version="${version}"`);
  expect(JSON.parse(read('package-lock.json'))).toMatchObject({ version });
  expect(/^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
  expect(read('README.md')).toContain(`Version ${version}`);
  expect(read('deploy/kubernetes/kustomization.yaml')).toContain(`newTag: ${version}\n`);
  expect(read('docs/operate/install.md')).toContain(`assent-${version}.tgz`);
  expect(read('docs/operate/upgrade.md')).toContain(`### ${version}\n`);
});
