import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { withTools } from '../harness/faults.js';
import { failOnLeftovers, json, ScriptedServer, temporaryFolder } from '../harness/index.js';
import { Chart, chart, find, objects, stored, valuesOf } from './chart.js';
import type { Manifest } from './rendered.js';

const { describeWith, tools } = await withTools('helm');
const packed = new Chart(tools.helm);
type Data = Record<string, string>;

const base64 = (data: Data): Data =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  );
const plain = (data: Data = {}): Data =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
  );
const secret = (name: string, data: Data) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'prod' },
  data: base64(data),
});

/** The part of the Kubernetes API that Helm reads while it renders. */
class Cluster {
  /** The keys are the last two parts of each path. */
  readonly objects = new Map<string, object>();
  private readonly folder = temporaryFolder('cluster');
  private server: ScriptedServer | undefined;
  private readonly replies: Record<string, object> = {
    '/version': { major: '1', minor: '32', gitVersion: 'v1.32.0' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
    '/api/v1': {
      kind: 'APIResourceList',
      groupVersion: 'v1',
      resources: ['Secret', 'ConfigMap'].map((kind) => ({
        name: `${kind.toLowerCase()}s`,
        singularName: '',
        namespaced: true,
        kind,
        verbs: ['get', 'list'],
      })),
    },
  };

  async start(): Promise<void> {
    this.server = await ScriptedServer.start((...call) => {
      const [{ url }] = call;
      const found =
        this.replies[url.pathname] ?? this.objects.get(url.pathname.split('/').slice(-2).join('/'));
      const missing = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
      return json(found ?? missing, found ? 200 : 404)(...call);
    });
    const cluster = { name: 'test', cluster: { server: this.server.url } };
    const context = { name: 'test', context: { cluster: 'test', user: 'test' } };
    writeFileSync(
      path.join(this.folder, 'config'),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'test',
        clusters: [cluster],
        contexts: [context],
        users: [{ name: 'test', user: {} }],
      }),
    );
  }

  async render(...words: string[]): Promise<{ stderr: string; manifests: Manifest[] }> {
    const { stdout, stderr } = await this.helm(...words);
    return {
      stderr,
      manifests: objects(stdout),
    };
  }

  /** Does not block this process, which answers Helm. */
  private async helm(...words: string[]): Promise<{ stdout: string; stderr: string }> {
    const child = spawn(
      tools.helm,
      ['template', 'model-router', chart, '--namespace', 'prod', '--dry-run=server', ...words],
      {
        env: {
          PATH: process.env['PATH'],
          HOME: this.folder,
          KUBECONFIG: path.join(this.folder, 'config'),
        },
      },
    );
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    await once(child, 'close');
    return { stdout, stderr };
  }

  async stop(): Promise<void> {
    await this.server?.stop();
    rmSync(this.folder, { recursive: true });
  }
}

describeWith('rendering against a cluster', () => {
  const cluster = new Cluster();
  beforeAll(() => cluster.start());
  afterAll(() => cluster.stop());
  failOnLeftovers();
  const exists = (...objects: { kind: string; metadata: { name: string } }[]) => {
    cluster.objects.clear();
    cluster.objects.set('configmaps/kube-root-ca.crt', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kube-root-ca.crt' },
    });
    for (const each of objects)
      cluster.objects.set(`${each.kind.toLowerCase()}s/${each.metadata.name}`, each);
  };
  const whole = { DATABASE_URL: 'postgres://router@postgres/router', JWT_SECRET: 'a', SIGNING_SECRET: 'b' };

  const dataOf = async () => {
    const { manifests, stderr } = await cluster.render(...valuesOf('trial'));
    expect(stderr).not.toContain('Error');
    return plain(find(manifests, 'Secret', 'model-router')?.['data'] as Data);
  };

  it('generates a trial’s secrets once, and keeps them at the next upgrade', async () => {
    exists();
    const first = await dataOf();
    expect(Object.keys(first).sort()).toEqual([
      'DATABASE_URL',
      'JWT_SECRET',
      'POSTGRES_PASSWORD',
      'REDIS_URL',
      'SIGNING_SECRET',
      'VALKEY_PASSWORD',
    ]);
    expect(first['DATABASE_URL']).toBe(
      `postgres://router:${first['POSTGRES_PASSWORD']}@postgres:5432/router`,
    );
    expect(first['SIGNING_SECRET']?.length).toBeGreaterThanOrEqual(32);
    expect(await dataOf()).not.toEqual(first);
    exists(secret('model-router', first));
    expect(await dataOf()).toEqual(first);
  });

  it.each([
    ['the Secret model-router (secrets.main) does not exist in the namespace prod', [], []],
    [
      'the Secret model-router lacks SIGNING_SECRET',
      [secret('model-router', { DATABASE_URL: 'a', JWT_SECRET: 'b' })],
      [],
    ],
    [
      'the Secret model-router-scaler (secrets.scaler) does not exist',
      [secret('model-router', whole)],
      ['worker.keda.enabled=true'],
    ],
    [
      'the ConfigMap rows (catalog.existingConfigMap) does not exist',
      [secret('model-router', whole)],
      ['catalog.existingConfigMap=rows'],
    ],
    [
      'the Secret ca (certificateAuthority.secret) does not exist',
      [secret('model-router', whole)],
      ['certificateAuthority.secret=ca'],
    ],
  ])('fails before it changes anything: %s', async (reason, objects, values) => {
    exists(...objects);
    const { stderr, manifests } = await cluster.render(
      ...stored,
      ...values.flatMap((value) => ['--set', value]),
    );
    expect(stderr).toContain(reason);
    expect(manifests).toEqual([]);
  });

  it.each([
    ['the Secret is complete', [secret('model-router', whole)], []],
    [
      'published keys verify access tokens',
      [secret('model-router', { DATABASE_URL: 'a', SIGNING_SECRET: 'b' })],
      ['--set', 'config.JWT_JWKS_URL=https://login.example.com/keys'],
    ],
    ['an ExternalSecret creates it', [], valuesOf('external-secrets')],
  ])('renders if %s', async (_case, objects, words) => {
    exists(...objects);
    const { stderr, manifests } = await cluster.render(...stored, ...words);
    expect(stderr).not.toContain('Error');
    expect(manifests.length).toBeGreaterThan(8);
  });
});

interface Annotated extends Manifest {
  metadata: Manifest['metadata'] & { annotations?: Record<string, string> };
}

const weight = ({ metadata }: Annotated) => Number(metadata.annotations?.['helm.sh/hook-weight'] ?? 0);

const hooks = (manifests: Manifest[], event: string) =>
  (manifests as Annotated[])
    .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']?.split(',').includes(event))
    .sort((one, other) => weight(one) - weight(other))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describeWith('an installation', () => {
  it.each(['pre-install', 'pre-upgrade'])('creates external secrets before the migration: %s', (event) => {
    const manifests = packed.templated(...valuesOf('external-secrets'));
    expect(hooks(manifests, event)).toEqual([
      'ExternalSecret model-router',
      'ExternalSecret model-router-migrate',
      'ExternalSecret model-router-provider-bfl',
      'ServiceAccount migrate',
      'Job migrate',
    ]);
    // Helm replaces a hook, and the Secret must outlive it.
    for (const each of manifests.filter(({ kind }) => kind === 'ExternalSecret'))
      expect(each).toMatchObject({
        spec: { target: { name: each.metadata.name, creationPolicy: 'Orphan' } },
      });
  });

  it('of a trial migrates in an ordinary Job of each revision, because its Postgres is part of the release', () => {
    const manifests = packed.templated(...valuesOf('trial'));
    expect(hooks(manifests, 'pre-install')).toEqual([]);
    expect(find(manifests, 'Job', 'migrate-1')).toBeDefined();
    expect(manifests.filter(({ kind }) => kind === 'StatefulSet')).toHaveLength(2);
    expect(find(manifests, 'Secret', 'model-router')).toMatchObject({
      metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } },
    });
    expect(find(manifests, 'Deployment', 'worker')).toMatchObject({
      spec: { template: { spec: { securityContext: { fsGroup: 65_532 } } } },
    });
  });

  it('is tested by a call through the Service, which the network policies allow', () => {
    const manifests = packed.templated(...valuesOf('load-balancer'));
    expect(hooks(manifests, 'test')).toEqual(['NetworkPolicy test', 'Pod test']);
    expect(JSON.stringify(find(manifests, 'Pod', 'test')?.['spec'])).toContain('http://gateway:443');
  });
});

/** Only an installation shows the notes, so a copy of the chart has them in a ConfigMap. */
function withNotes(folder: string): string {
  const copy = path.join(folder, 'model-router');
  cpSync(chart, copy, { recursive: true, dereference: true });
  const notes = path.join(copy, 'templates/NOTES.txt');
  const map =
    '{{ dict "kind" "ConfigMap" "metadata" (dict "name" "notes") "text" (include "notes" .) | toYaml }}';
  writeFileSync(
    path.join(copy, 'templates/notes.yaml'),
    `{{- define "notes" -}}${readFileSync(notes, 'utf8')}{{- end -}}\n${map}\n`,
  );
  return copy;
}

describeWith('the notes of an installation', () => {
  const folder = temporaryFolder('notes');
  afterAll(() => rmSync(folder, { recursive: true }));
  const copy = withNotes(folder);
  const notes = (example: string) => {
    const words = ['template', 'model-router', copy, '--namespace', 'prod', ...valuesOf(example)];
    const { stdout, stderr } = packed.helm(...words);
    const map = find(objects(stdout), 'ConfigMap', 'notes') as { text: string } | undefined;
    return map?.text ?? stderr;
  };

  it('say what to do next, and what the installation lacks', () => {
    const small = notes('small-cluster');
    expect(small).toContain('helm test -n prod model-router');
    expect(small).toContain(
      'kubectl -n prod exec deployment/gateway -- node docker/entry.mjs admin key create',
    );
    expect(small).toContain('There are no network policies');
    expect(small).toContain('The number of workers is fixed at 1');
    const production = notes('production');
    expect(production).toContain('Callers reach it at https://router.example.com.');
    expect(production).not.toMatch(/no network policies|is fixed at|No PodMonitor/);
    expect(notes('two-in-one-namespace')).toContain('deployment/images-gateway');
    expect(notes('trial')).toContain('This is a trial');
  });
});

describeWith.each([
  ['two-in-one-namespace', 'images'],
  ['names-by-release', 'model-router-2'],
])('names of %s', (example, prefix) => {
  const made = () => {
    const { stdout } = packed.helm(
      'template',
      prefix === 'images' ? 'model-router' : prefix,
      chart,
      ...valuesOf(example),
      '--set',
      'monitoring.rules=true',
      '--set',
      prefix === 'images' ? 'gateway.replicas=2' : 'nameOverride=router',
    );
    return objects(stdout);
  };

  it('begin with it, in every object and every reference', () => {
    const manifests = made();
    const own = new Set(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    const kept = manifests.filter(
      ({ kind, metadata }) => kind !== 'Secret' && !metadata.name.startsWith(prefix),
    );
    expect(kept).toEqual([]);
    const references = [
      ...JSON.stringify(manifests).matchAll(/"(serviceAccountName|claimName|serviceName)":"([^"]+)"/g),
    ];
    const kinds: Record<string, string> = {
      serviceAccountName: 'ServiceAccount',
      claimName: 'PersistentVolumeClaim',
      serviceName: 'Service',
    };
    expect(references.length).toBeGreaterThan(2);
    for (const [, field = '', name = ''] of references) expect(own).toContain(`${kinds[field]} ${name}`);
    const targets = manifests.flatMap(({ spec }) => {
      const { scaleTargetRef } = (spec ?? {}) as { scaleTargetRef?: { kind: string; name: string } };
      return scaleTargetRef ? [`${scaleTargetRef.kind} ${scaleTargetRef.name}`] : [];
    });
    expect(targets).toContain(`Deployment ${prefix}-gateway`);
    expect([...own]).toEqual(expect.arrayContaining(targets));
    expect(JSON.stringify(find(manifests, 'PrometheusRule', prefix))).toContain(
      `horizontalpodautoscaler=~\\"(keda-hpa-)?${prefix}-worker\\"`,
    );
  });

  it('are in the selectors, so that no object selects another release’s pods', () => {
    const selectors = [
      ...JSON.stringify(made()).matchAll(
        /"(?:podSelector|selector|labelSelector)":(\{(?:[^{}]|\{[^{}]*\})*\})/g,
      ),
    ].map(([, text = '']) => text);
    expect(selectors.length).toBeGreaterThan(12);
    const own = `"app.kubernetes.io/instance":"${prefix}"`;
    expect(selectors.filter((text) => !text.includes(own) && !text.includes('kube'))).toEqual([]);
  });
});
