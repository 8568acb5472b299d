import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

// The operators' API in the files of deploy/: off until it is chosen, and then for no network of users.

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(`${checkout}${file}`, 'utf8');

describe('in Kubernetes, the operators’ API', () => {
  const manifestsIn = (part: string) =>
    readdirSync(`${checkout}deploy/kubernetes/${part}`).filter((file) =>
      /(?<!^kustomization)\.yaml$/.test(file),
    );
  const readAll = (part: string) =>
    manifestsIn(part).flatMap((file) =>
      parseAllDocuments(read(`deploy/kubernetes/${part}${file}`)).map((document) => document.toJS()),
    );
  const base = readAll('');
  const added = readAll('admin/');
  const ofKind = (kind: string) => [...base, ...added].filter((one) => one.kind === kind);

  const [container] = added.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers;
  const [opened] = container.ports;
  const isOpened = (port: unknown) => port === opened.name || port === opened.containerPort;

  it('is an optional component', () => {
    const { kind, resources, patches } = parse(read('deploy/kubernetes/admin/kustomization.yaml'));
    expect(kind).toBe('Component');
    const parts = [...resources, ...patches.map(({ path }: { path: string }) => path)];
    expect(parts.toSorted()).toEqual(manifestsIn('admin/').toSorted());
    const kustomization = read('deploy/kubernetes/kustomization.yaml');
    expect(parse(kustomization).components).toBeUndefined();
    expect(parse(kustomization.replace('# components:', 'components:')).components).toEqual(['admin']);
    expect(JSON.stringify(base)).not.toContain('ADMIN_');
  });

  it('listens at the port that its container names, on the pod’s network', () => {
    const variables = container.env.map(({ name, value }: Record<string, string>) => [name, value]);
    expect(Object.fromEntries(variables)).toEqual({
      ADMIN_PORT: String(opened.containerPort),
      ADMIN_HOST: '0.0.0.0',
    });
  });

  it('has a service inside the cluster, and no other, no route and no node port', () => {
    const leading = ofKind('Service').filter(({ spec }) =>
      spec.ports.some(({ port, targetPort = port }: Record<string, unknown>) => isOpened(targetPort)),
    );
    const names = leading.map(({ metadata }) => metadata.name);
    expect(names).toEqual(['assent-admin']);
    expect(leading[0].spec).toMatchObject({ type: 'ClusterIP', ports: [{ targetPort: opened.name }] });

    const rules = ofKind('HTTPRoute').flatMap(({ spec }) => spec.rules);
    const targets = rules.flatMap(({ backendRefs = [] }) => backendRefs).map(({ name }) => name);
    expect(new Set(targets)).toEqual(new Set(['assent']));
    expect(ofKind('Ingress')).toEqual([]);
    const all = JSON.stringify([base, added]);
    expect(all).not.toMatch(/hostPort|hostNetwork|externalIPs|LoadBalancer|NodePort/);
  });

  it('admits only labelled pods in labelled namespaces', () => {
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
])('with %s, the operators’ API', (file, ports, of) => {
  const { services } = parse(read(file), { merge: true });
  // biome-ignore lint/suspicious/noExplicitAny: what YAML has
  const all = Object.entries<any>(services);

  it('is not published: only the pages are', () => {
    const open = all.filter(([, { ports, network_mode }]) => ports ?? network_mode);
    expect(open.map(([name]) => name)).toEqual(of);
    expect(open.flatMap(([, { ports }]) => ports)).toEqual(ports);
  });

  it('is off unless ADMIN_PORT is set', () => {
    const set = [...read(file).matchAll(/\bADMIN_PORT: *(.*)/g)].map(([, value]) => value);
    for (const value of set) expect(value).toMatch(/^\$\{ADMIN_PORT:-\}$/);
  });
});
