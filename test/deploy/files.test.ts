import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { END_MS } from '../../src/rules/timeouts.ts';
import { OPERATOR_VARIABLES, VARIABLES } from '../../src/variables.ts';

// What Assent knows of the files in deploy/; real proxies run theirs in proxies.test.ts.

const folder = fileURLToPath(new URL('../../deploy/', import.meta.url));
const read = (file: string) => readFileSync(`${folder}${file}`, 'utf8');

const known = Object.keys({ ...VARIABLES, ...OPERATOR_VARIABLES, NODE_ENV: null });
const isKnown = (name: string) => known.includes(name.replace(/_FILE$/, ''));

/** How long a replica may take to end after a signal. */
const endSeconds = ({ DRAIN_SECONDS = '0' }: Record<string, string>) => Number(DRAIN_SECONDS) + END_MS / 1000;

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

interface Container {
  readonly name: string;
  readonly env?: { name: string; value: string }[];
  readonly securityContext: object;
}
interface Pod {
  readonly containers: Container[];
  readonly securityContext: object;
  readonly terminationGracePeriodSeconds: number;
}
interface Manifest {
  readonly kind: string;
  readonly data: Record<string, string>;
  readonly spec: { template: { spec: Pod } };
}

describe('the manifests for Kubernetes', () => {
  const files = readdirSync(`${folder}kubernetes`).filter((file) => file !== 'kustomization.yaml');
  const manifests = files.flatMap((file) =>
    parseAllDocuments(read(`kubernetes/${file}`)).map((document) => document.toJS() as Manifest),
  );
  const find = (kind: string) => manifests.find((one) => one.kind === kind) as Manifest;
  const pods = ['Deployment', 'Job'].map((kind) => find(kind).spec.template.spec);

  it('are all in the kustomization', () => {
    const { resources } = parse(read('kubernetes/kustomization.yaml')) as { resources: string[] };
    expect(resources.toSorted()).toEqual(files.toSorted());
  });

  it('set only variables that Assent reads', () => {
    const names = pods.flatMap(({ containers }) => containers.flatMap(({ env = [] }) => env));
    const all = [...names.map(({ name }) => name), ...Object.keys(find('ConfigMap').data)];
    expect(all.length).toBeGreaterThan(5);
    expect(all.filter((name) => !isKnown(name))).toEqual([]);
  });

  it('give a replica the time that its drain takes, after the pause before it', () => {
    const { terminationGracePeriodSeconds } = pods[0] as Pod;
    const pause = 5;
    expect(read('kubernetes/deployment.yaml')).toContain(`sleep: { seconds: ${pause} }`);
    expect(terminationGracePeriodSeconds).toBeGreaterThan(pause + endSeconds(find('ConfigMap').data));
  });

  it('let a pod write nothing, and be nobody', () => {
    for (const { containers, securityContext } of pods) {
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  const validator = isInstalled('kubernetes-validate');
  it.runIf(validator).each(files)(
    `follow the schemas of Kubernetes (kubernetes-validate ${validator ? 'is' : 'is not'} installed): %s`,
    (file) => {
      const { status, stdout, stderr } = spawnSync('kubernetes-validate', ['--strict', file], {
        cwd: `${folder}kubernetes`,
        encoding: 'utf8',
      });
      expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
    },
  );
});

describe('the compose file for two replicas', () => {
  const text = read('compose/docker-compose.yml');
  interface Service {
    readonly environment: Record<string, string>;
    readonly stop_grace_period?: string;
    readonly networks: { inside?: { ipv4_address: string } };
  }
  const { services } = parse(text, { merge: true }) as { services: Record<string, Service> };
  const replicas = ['one', 'two'].map((name) => services[name] as Service);

  it('sets only variables that Assent reads, and no password in a URL', () => {
    for (const { environment } of [...replicas, services.migrate as Service]) {
      expect(Object.keys(environment).filter((name) => !isKnown(name))).toEqual([]);
      expect(new URL(environment.DATABASE_URL ?? '').password).toBe('');
    }
  });

  it('gives a replica the time that its drain takes', () => {
    for (const { environment, stop_grace_period } of replicas) {
      expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(endSeconds(environment));
    }
  });

  it('tells the proxy where the replicas are', () => {
    const { environment } = services.proxy as Service;
    const addresses = replicas.map(({ networks }) => `${networks.inside?.ipv4_address}:3000`);
    expect([environment.ASSENT_ONE, environment.ASSENT_TWO]).toEqual(addresses);
    for (const name of ['ASSENT_ONE', 'ASSENT_TWO'])
      expect(read('haproxy/haproxy.cfg')).toContain(`\${${name}-`);
  });
});

describe('the units for systemd', () => {
  const units = readdirSync(`${folder}systemd`).filter((file) => file.endsWith('.service'));

  it.each(units)('set only variables that Assent reads: %s', (unit) => {
    const names = [...read(`systemd/${unit}`).matchAll(/^Environment=(.+)$/gm)].flatMap(([, line = '']) =>
      line.split(' ').map((pair) => pair.split('=')[0] ?? ''),
    );
    expect(names.filter((name) => !isKnown(name))).toEqual([]);
  });

  const analyzer = isInstalled('systemd-analyze');
  it.runIf(analyzer).each(units)(
    `are hardened (systemd-analyze ${analyzer ? 'is' : 'is not'} installed): %s`,
    (unit) => {
      const { stdout } = spawnSync(
        'systemd-analyze',
        ['security', '--offline=true', `${folder}systemd/${unit}`],
        {
          encoding: 'utf8',
        },
      );
      const [, exposure] = /Overall exposure level for \S+: (\S+)/.exec(stdout) ?? [];
      expect(Number(exposure)).toBeLessThanOrEqual(2);
    },
  );
});
