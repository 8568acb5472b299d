import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { VARIABLES } from '../../src/config/variables.ts';
import { MAX_SHUTDOWN_MS } from '../../src/rules/common/timeouts.ts';
import { CHECKOUT, readFile, useFolder } from '../support/process/folder.ts';
import { versionOf } from '../support/process/program.ts';

// The files of deploy/, as far as they can be checked without a cluster or an engine; proxies.test.ts runs real proxies.

const folder = `${CHECKOUT}/deploy/`;
const read = (file: string) => readFile(`deploy/${file}`);

const known = Object.keys({ ...VARIABLES, NODE_ENV: null });
const isKnown = (name: string) => known.includes(name.replace(/_FILE$/, ''));

/** The longest time in which a replica ends after a signal. */
const endSeconds = ({ DRAIN_SECONDS = '0' }: Record<string, string>) =>
  Number(DRAIN_SECONDS) + MAX_SHUTDOWN_MS / 1000;

const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));

const namesIn = (part: string) =>
  readdirSync(`${folder}kubernetes/${part}`).filter((file) => /(?<!^kustomization)\.yaml$/.test(file));
const manifestsIn = (part: string) =>
  namesIn(part).flatMap((file) =>
    parseAllDocuments(read(`kubernetes/${part}${file}`)).map((document) => document.toJS()),
  );

describe('the manifests for Kubernetes', () => {
  const files = namesIn('');
  const manifests = manifestsIn('');
  const find = (kind: string, name?: string) =>
    manifests.find((one) => one.kind === kind && (name ?? one.metadata.name) === one.metadata.name);
  const notifier = find('Deployment', 'assent-notify');
  const maintain = find('CronJob').spec.jobTemplate;
  const pods = [find('Deployment'), notifier, find('Job'), maintain].map(({ spec }) => spec.template.spec);
  const containers = pods.flatMap((pod) => pod.containers);
  const configuration = variablesIn(read('kubernetes/configuration.env'));

  it('are all in the kustomization', () => {
    expect(parse(read('kubernetes/kustomization.yaml')).resources.toSorted()).toEqual(files.toSorted());
  });

  it('set only variables that Assent reads', () => {
    const set = containers.flatMap(({ env = [] }) => env).map(({ name }) => name);
    set.push(...Object.keys(configuration));
    expect(set.length).toBeGreaterThan(5);
    expect(set.filter((name) => !isKnown(name))).toEqual([]);
  });

  it('give a replica enough time to drain after its preStop sleep', () => {
    expect(read('kubernetes/deployment.yaml')).toContain('sleep: { seconds: 5 }');
    expect(pods[0].terminationGracePeriodSeconds).toBeGreaterThan(5 + endSeconds(configuration));
  });

  it('run a pod read-only as an unprivileged user', () => {
    const ofPod = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
    const denied = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    for (const { securityContext } of pods) expect(securityContext).toMatchObject(ofPod);
    for (const { securityContext } of containers)
      expect(securityContext).toEqual({ ...denied, readOnlyRootFilesystem: true });
  });

  it('notify in one pod, with the servers’ settings and secrets', () => {
    const [servers, notify] = containers;
    expect(notifier.spec.replicas).toBe(1);
    expect(notify.command).toEqual(['assent', 'notify']);
    for (const part of ['envFrom', 'env', 'volumeMounts']) expect(notify[part]).toEqual(servers[part]);
    expect(pods[1].volumes).toEqual(pods[0].volumes);
  });

  it('let only the pod that notifies reach the Internet, and nothing reach it', () => {
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
    const isPublic = (one: object) => JSON.stringify(one).includes('0.0.0.0/0');
    const [policy, ...others] = policies.filter(({ spec }) => spec.egress.some(isPublic));
    expect(others).toEqual([]);
    expect(policy.metadata.name).toBe('assent-notify');
    expect(policy.spec.podSelector.matchLabels).toEqual(notifier.spec.template.metadata.labels);
    expect(policy.spec.ingress).toEqual([]);
  });

  // An earlier one doesn't tell events that only the new servers know.
  it('replace the pod that notifies before the servers, by the upgrade’s steps and by Argo CD', () => {
    const { generatorOptions } = parse(read('kubernetes/kustomization.yaml'));
    const before = [generatorOptions, find('Job').metadata, notifier.metadata];
    const steps = [...readFile('docs/operate/upgrade.md').matchAll(/-l '(\S+) in \((.+)\)'/g)];
    const [[, label = '', first = ''] = [], [, , back = ''] = []] = steps;
    const labelsOf = (objects: typeof before) => objects.map(({ labels }) => labels[label]).join(', ');
    expect(labelsOf(before)).toBe(first);
    // To go back, the servers alone.
    expect(labelsOf([generatorOptions, find('Deployment').metadata])).toBe(back);
    for (const { annotations } of [generatorOptions, notifier.metadata])
      expect(Number(annotations['argocd.argoproj.io/sync-wave'])).toBeLessThan(0);
    expect(find('Deployment').metadata.annotations).toBeUndefined();
  });

  const routes = manifests.filter(({ kind }) => kind === 'HTTPRoute');
  const rules = routes.flatMap(({ spec }) => spec.rules);

  it('route the host of BASE_URL to the service', () => {
    const { host } = new URL(configuration.BASE_URL ?? '');
    const { metadata, spec } = find('Service');
    expect(new Set(routes.flatMap(({ spec: { hostnames } }) => hostnames))).toEqual(new Set([host]));
    const service = { name: metadata.name, port: spec.ports[0].port };
    expect(rules.flatMap(({ backendRefs = [] }) => backendRefs)).toEqual([service, service, service]);
  });

  it('have a separate route for the endpoints that HAProxy exempts from rate limits', () => {
    const [, paths = ''] = /acl for_programs path (.+)/.exec(read('haproxy/haproxy.cfg')) ?? [];
    const exact = rules.flatMap(({ matches = [] }) => matches).filter(({ method }) => method === 'POST');
    expect(exact).toEqual(
      paths.split(' ').map((value) => ({ method: 'POST', path: { type: 'Exact', value } })),
    );
  });

  const kustomize = versionOf(['kustomize', 'version']);
  const built = `(kustomize ${kustomize ?? 'is not installed'})`;

  /** What `kubectl apply -k` would apply after an operator's change of one file. */
  function build(file = 'configuration.env', from = '', to = '') {
    const copy = join(useFolder(onTestFinished), 'kubernetes');
    cpSync(`${folder}kubernetes`, copy, { recursive: true });
    writeFileSync(join(copy, file), read(`kubernetes/${file}`).replace(from, to));
    const { stdout, stderr } = spawnSync('kustomize', ['build', copy], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const all = parseAllDocuments(stdout).map((document) => document.toJS());
    const of = (kind: string) => all.find((one) => one.kind === kind);
    const [container] = of('Deployment').spec.template.spec.containers;
    return { container, configMap: of('ConfigMap'), job: of('Job').metadata };
  }

  it.runIf(kustomize)(`start new pods for another configuration, and only then ${built}`, () => {
    const [before, again] = [build(), build()];
    const after = build('configuration.env', 'https://pay.example', 'https://wallet.example');
    for (const { container, configMap } of [before, again, after])
      expect(container.envFrom).toEqual([{ configMapRef: { name: configMap.metadata.name } }]);
    expect(before.configMap.data).toEqual(configuration);
    expect(again.configMap.metadata.name).toBe(before.configMap.metadata.name);
    expect(after.configMap.metadata.name).not.toBe(before.configMap.metadata.name);
    expect(after.configMap.data.BASE_URL).toBe('https://wallet.example');
  });

  it.runIf(kustomize)(`name each version’s migration apart, before the servers with Argo CD ${built}`, () => {
    const { job } = build('kustomization.yaml', '1.0.0', '1.1.0');
    expect([build().job.name, job.name]).toEqual(['assent-migrate-1.0.0', 'assent-migrate-1.1.0']);
    expect(job.annotations).toEqual({
      'argocd.argoproj.io/hook': 'PreSync',
      'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
    });
  });

  it('spread the servers over zones and machines, and name the version of the pods’ policy', () => {
    const keys = pods[0].topologySpreadConstraints.map((one: { topologyKey: string }) => one.topologyKey);
    expect(keys).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname']);
    const labels = find('Namespace').metadata.labels;
    expect(labels['pod-security.kubernetes.io/enforce-version']).toMatch(/^v1\.\d+$/);
  });

  // It has no schema for the Gateway API.
  const ofKubernetes = files.filter((file) => file !== 'route.yaml');
  ofKubernetes.push('admin/service.yaml', 'admin/network-policy.yaml');
  const validator = versionOf(['kubernetes-validate', '--version']);
  const title = `follow the schemas (kubernetes-validate ${validator ?? 'is not installed'}): %s`;
  it.runIf(validator).each(ofKubernetes)(title, (file) => {
    const options = { cwd: `${folder}kubernetes`, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync('kubernetes-validate', ['--strict', file], options);
    expect(status, stdout + stderr).toBe(0);
  });

  // The operators' API is off until an operator chooses it.
  const added = manifestsIn('admin/');
  const ofKind = (kind: string) => [...manifests, ...added].filter((one) => one.kind === kind);
  const [container] = added.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers;
  const [opened] = container.ports;
  const isOpened = (port: unknown) => port === opened.name || port === opened.containerPort;

  it('have the operators’ API as an optional component', () => {
    const { kind, resources, patches } = parse(read('kubernetes/admin/kustomization.yaml'));
    expect(kind).toBe('Component');
    const parts = [...resources, ...patches.map(({ path }: { path: string }) => path)];
    expect(parts.toSorted()).toEqual(namesIn('admin/').toSorted());
    const kustomization = read('kubernetes/kustomization.yaml');
    expect(parse(kustomization).components).toBeUndefined();
    expect(parse(kustomization.replace('# components:', 'components:')).components).toEqual(['admin']);
    expect(JSON.stringify(manifests)).not.toContain('ADMIN_');
  });

  it('have the operators’ API listen at the port that its container names, on the pod’s network', () => {
    const port = { name: 'ADMIN_PORT', value: String(opened.containerPort) };
    expect(container.env.slice(0, 2)).toEqual([port, { name: 'ADMIN_HOST', value: '0.0.0.0' }]);
  });

  it('mount the folder of the file with operators, in which Kubernetes changes the file', () => {
    const { volumes } = added.find(({ kind }) => kind === 'Deployment').spec.template.spec;
    const [{ name, mountPath, ...mount }] = container.volumeMounts;
    expect(container.env[2]).toEqual({ name: 'OPERATORS_FILE', value: `${mountPath}/operators.json` });
    expect(volumes).toMatchObject([{ name, secret: { secretName: 'assent-operators' } }]);
    expect(mount).toEqual({ readOnly: true });
  });

  it('have one service for the operators’ API, inside the cluster, without a route and a node port', () => {
    const leading = ofKind('Service').filter(({ spec }) =>
      spec.ports.some(({ port, targetPort = port }: Record<string, unknown>) => isOpened(targetPort)),
    );
    expect(leading).toMatchObject([{ metadata: { name: 'assent-admin' }, spec: { type: 'ClusterIP' } }]);

    const all = ofKind('HTTPRoute').flatMap(({ spec }) => spec.rules);
    const targets = all.flatMap(({ backendRefs = [] }) => backendRefs).map(({ name }) => name);
    expect(new Set(targets)).toEqual(new Set(['assent']));
    expect(ofKind('Ingress')).toEqual([]);
    const opening = /hostPort|hostNetwork|externalIPs|LoadBalancer|NodePort/;
    expect(JSON.stringify([manifests, added])).not.toMatch(opening);
  });

  it('admit to the operators’ API only labelled pods in labelled namespaces [files-1]', () => {
    const policies = ofKind('NetworkPolicy').map(({ spec }) => spec);
    for (const { policyTypes } of policies) expect(policyTypes).toContain('Ingress');
    const isElsewhere = ({ port, endPort }: Record<string, unknown>) =>
      port !== undefined && endPort === undefined && !isOpened(port);
    const admitting = policies
      .flatMap(({ ingress }) => ingress)
      .filter(({ ports }) => ports === undefined || !ports.every(isElsewhere));
    const chosen = { matchLabels: { 'assent/operators': 'true' } };
    expect(admitting.flatMap(({ from }) => from)).toEqual([
      { namespaceSelector: chosen, podSelector: chosen },
    ]);
  });
});

describe.each([
  ['deploy/compose/docker-compose.yml', ['0.0.0.0:80:80', '0.0.0.0:443:443'], ['proxy']],
  ['docker-compose.yml', [`127.0.0.1:\${PORT:-3000}:3000`], ['assent']],
])('%s', (file, ports, of) => {
  const { services } = parse(readFile(file), { merge: true });
  // biome-ignore lint/suspicious/noExplicitAny: what YAML has
  const all = Object.entries<any>(services);

  it('publishes the pages only; the operators’ API is off unless ADMIN_PORT is set', () => {
    const open = all.filter(([, { ports, network_mode }]) => ports ?? network_mode);
    expect(open.map(([name]) => name)).toEqual(of);
    expect(open.flatMap(([, { ports }]) => ports)).toEqual(ports);
    const set = [...readFile(file).matchAll(/\bADMIN_PORT: *(.*)/g)].map(([, value]) => value);
    for (const value of set) expect(value).toMatch(/^\$\{ADMIN_PORT:-\}$/);
  });

  it('notifies in a separate container with the server’s settings', () => {
    const server = services.assent ?? services.one;
    const { notify } = services;
    const check = { test: ['CMD', 'true'], interval: '5s' };
    expect([notify.command, notify.healthcheck]).toEqual([['assent', 'notify'], check]);
    expect(notify.environment).toEqual(server.environment);
    expect(Number.parseInt(notify.stop_grace_period, 10)).toBeGreaterThan(endSeconds({}));
  });

  it('maintains the database as its owner each day, in a separate container, and drops nothing', () => {
    const { maintain, migrate } = services;
    expect([maintain.environment, maintain.networks]).toEqual([migrate.environment, migrate.networks]);
    expect(maintain.command.slice(0, 2)).toEqual(['sh', '-c']);
    const day = /^while :; do if assent maintain; then .* sleep 86400; else .* sleep 60; fi; done$/;
    expect(maintain.command[2]).toMatch(day);
    expect(maintain.healthcheck.test).toEqual(['CMD', 'test', '-e', '/tmp/maintained']);
  });
});

describe('the compose file for two replicas', () => {
  const { services } = parse(read('compose/docker-compose.yml'), { merge: true });
  const replicas = [services.one, services.two];

  it('sets only variables that Assent reads, and no password in a URL', () => {
    for (const { environment } of [...replicas, services.notify, services.migrate]) {
      expect(Object.keys(environment).filter((name) => !isKnown(name))).toEqual([]);
      expect(new URL(environment.DATABASE_URL).password).toBe('');
    }
  });

  it('gives a replica enough time to drain, and a port of its own for metrics, outside the proxy', () => {
    for (const { environment, stop_grace_period } of replicas) {
      expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(endSeconds(environment));
      expect(environment.METRICS_PORT).toMatch(/^\d+$/);
    }
  });

  it('configures the replicas’ addresses in the proxy', () => {
    const { ASSENT_ONE, ASSENT_TWO } = services.proxy.environment;
    const addresses = replicas.map(({ networks }) => `${networks.inside.ipv4_address}:3000`);
    expect([ASSENT_ONE, ASSENT_TWO]).toEqual(addresses);
    for (const name of ['ASSENT_ONE', 'ASSENT_TWO'])
      expect(read('haproxy/haproxy.cfg')).toContain(`\${${name}-`);
  });
});

describe('the units for systemd', () => {
  const units = readdirSync(`${folder}systemd`).filter((file) => file.endsWith('.service'));

  it.each(units)('set only variables that Assent or the unit’s own command reads: %s', (unit) => {
    const text = read(`systemd/${unit}`);
    const names = [...text.matchAll(/^Environment=(.+)$/gm)].flatMap(([, line = '']) =>
      line.split(' ').map((pair) => pair.split('=')[0] ?? ''),
    );
    const isUsed = (name: string) => isKnown(name) || text.includes(` \${${name}}`);
    expect(names.filter((name) => !isUsed(name))).toEqual([]);
  });

  it('always restart a replica, and let it override the common settings', () => {
    const unit = read('systemd/assent@.service');
    expect(unit).toMatch(/^\[Unit\]\n(?:(?!\[).*\n)*StartLimitIntervalSec=0\n/m);
    expect(unit).toMatch(/^Restart=always$/m);
    const files = [...unit.matchAll(/^EnvironmentFile=(.+)$/gm)].map(([, file]) => file);
    expect(files).toEqual(['/etc/assent/environment', '-/etc/assent/environment.%i']);
  });

  it('notify with the replicas’ settings and secrets, and always restart that', () => {
    const [unit, replica] = ['assent-notify.service', 'assent@.service'].map((file) =>
      read(`systemd/${file}`),
    );
    const shared = /^(?:EnvironmentFile=\/\S+environment|LoadCredential=.+|Environment=PG.+|Restart=.+)$/gm;
    expect(unit?.match(shared)).toEqual(replica?.match(shared));
    expect(unit?.match(shared)).toHaveLength(5);
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  });

  it('read the name of the servers’ role from a file, which upgrades keep', () => {
    const unit = read('systemd/assent-migrate.service');
    expect(unit).toMatch(/^ExecStart=.+ migrate --server-role \$\{SERVER_ROLE\}$/m);
    expect(unit).toMatch(/^EnvironmentFile=\/etc\/assent\/owner$/m);
  });

  const analyzer = versionOf(['systemd-analyze', '--version']);
  const found = `(systemd-analyze ${analyzer ? 'is' : 'is not'} installed)`;
  it.runIf(analyzer).each(units)(`are hardened ${found}: %s`, (unit) => {
    const args = ['security', '--offline=true', '--threshold=20', `${folder}systemd/${unit}`]; // an exposure of 2.0
    expect(spawnSync('systemd-analyze', args).status).toBe(0);
  });

  it.runIf(analyzer)(`have only settings that systemd knows ${found}`, () => {
    const copies = useFolder(onTestFinished);
    for (const unit of [...units, 'assent-maintain.timer']) {
      const text = read(`systemd/${unit}`).replace('/usr/bin/node ', `${process.execPath} `);
      writeFileSync(join(copies, unit.replace('@', '@3001')), text);
    }
    const args = ['verify', '--man=no', ...readdirSync(copies)];
    const { status, stderr } = spawnSync('systemd-analyze', args, { cwd: copies, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('a shell script of deploy/systemd', () => {
  const etc = useFolder();

  /** Runs it with a file of settings. @returns the variables that Assent would get */
  function run(settings: string, variables: Record<string, string> = {}) {
    writeFileSync(join(etc, 'environment'), settings);
    const script = read('systemd/assent')
      .replaceAll('/etc/assent', etc)
      .replace('exec /usr/bin/node /opt/assent/bin/assent.js "$@"', 'exec /usr/bin/env');
    const env = { PATH: process.env.PATH ?? '', ...variables };
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
    return { status, stderr, got: variablesIn(stdout) };
  }

  // The values are those of systemd 252 for the same lines.
  it.each([
    ['an & in a URL', 'A=postgres://u@h/d?sslmode=verify-full&sslrootcert=/etc/ca.crt'],
    ['shell syntax', 'A=$(id) `id` $HOME ~ * ; exit 7'],
    ['a # within a value', 'A=a # b'],
    ['quotes within a value', `A=it's "so"`],
    ['more than one =', 'A=dGVzdA=='],
    ['spaces around name and value', '  A = a  b  ', 'a  b'],
    ['double quotes', 'A="a b & $c\'s "', "a b & $c's "],
    ['a backslash in single quotes', `A='a "b" \\ $c'`, 'a "b" \\ $c'],
    ['an empty value', 'A=', ''],
    ['the last of two assignments', 'A=1\nA=2', '2'],
    ['comments and empty lines', '# A=1\n\n;A=2\nA=3', '3'],
  ])('reads a settings file as systemd does: %s', (_what, line, value = line.slice(2)) => {
    for (const end of ['', '\nB=1\n'])
      expect(run(line + end)).toMatchObject({ status: 0, got: { A: value } });
  });

  it.each([
    ['a backslash', 'A=secret\\ b'],
    ['a backslash in double quotes', 'A="secret\\n"'],
    ['an unclosed quote', 'A="secret'],
    ['text after a closing quote', `A='secret' b`],
    ['two quoted strings', `A='secret' 'b'`],
    ['a CRLF line ending', 'A=secret\r'],
    ['a line without =', 'secret'],
    ['a comment that continues on the next line', '# comment \\\nA=secret'],
    ['the shell keyword export', 'export A=secret'],
  ])('refuses a line that systemd would read differently, and prints no value: %s', (_what, line) => {
    const { status, stderr, got } = run(`${line}\n`);
    expect({ status, got }).toEqual({ status: 1, got: {} });
    expect(stderr).toMatch(/^assent: \S+\/environment: can't read .+\n$/);
    expect(stderr).not.toContain('secret');
  });

  it('lets the settings file of a port override the common settings', () => {
    writeFileSync(join(etc, 'environment.3001'), 'METRICS_PORT=9464\n');
    const shared = 'METRICS_PORT=1\nCURRENCY=EUR\n';
    expect(run(shared, { PORT: '3001' }).got).toMatchObject({ METRICS_PORT: '9464', CURRENCY: 'EUR' });
    expect(run(shared, { PORT: '3002' }).got).toMatchObject({ METRICS_PORT: '1', CURRENCY: 'EUR' });
  });

  it.each([
    ['before the replicas', []],
    ['after them, to go back', ['--back']],
  ])('restarts assent-notify %s: an earlier release would not tell events of the new one', (_, args) => {
    const programs = useFolder(onTestFinished);
    const calls = join(programs, 'calls');
    const systemctl = `[ "$1" = list-units ] && printf 'assent@%d.service loaded\\n' 3001 3002 || echo "$@" >> ${calls}`;
    for (const [name, content] of Object.entries({ systemctl, curl: ':' }))
      writeFileSync(join(programs, name), `#!/bin/sh\n${content}\n`, { mode: 0o755 });
    const env = { PATH: `${programs}:${process.env.PATH}` };
    expect(spawnSync('sh', [`${folder}systemd/assent-roll-out`, ...args], { env }).status).toBe(0);
    const replicas = ['restart assent@3001.service', 'restart assent@3002.service'];
    const notify = 'try-restart assent-notify';
    expect(readFileSync(calls, 'utf8').trim().split('\n')).toEqual(
      args.length === 0 ? [notify, ...replicas] : [...replicas, notify],
    );
  });

  it('refuses another word than --back, before it restarts anything', () => {
    const run = spawnSync('sh', [`${folder}systemd/assent-roll-out`, '--bakc'], {
      env: {},
      encoding: 'utf8',
    });
    expect([run.status, run.stderr]).toEqual([2, 'usage: assent-roll-out [--back]\n']);
  });

  it.each(['assent', 'assent-roll-out'])('has valid syntax: %s', (file) => {
    expect(spawnSync('sh', ['-n', `${folder}systemd/${file}`], { encoding: 'utf8' }).stderr).toBe('');
  });
});
