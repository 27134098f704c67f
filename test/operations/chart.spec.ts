import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { builtInDirectories, loadCatalog } from '#catalog';
import { readSettings } from '#schemas';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gatewaySettings } from '../../apps/gateway/src/settings.js';
import { workerSettings } from '../../apps/worker/src/settings.js';
import { dashboards, monitoringFiles } from '../../monitoring/src/files.js';
import { textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { temporaryFolder } from '../harness/index.js';
import { Chart, chart, examples, find, stored, valuesOf } from './chart.js';
import type { Scaler, Workload } from './objects.js';
import { type Manifest, rendered, typeErrors } from './rendered.js';

interface Dashboard {
  uid: string;
  title: string;
}

const { describeWith, tools } = await withTools('kubectl', 'helm');
const packed = new Chart(tools.helm);
const helm = packed.helm.bind(packed);
const templated = packed.templated.bind(packed);

const graceOf = (name: string, ...words: string[]) =>
  (find(templated(...stored, ...words), 'Deployment', name) as Workload).spec.template.spec
    .terminationGracePeriodSeconds;

const dashboardsOf = (manifests: Manifest[]) =>
  Object.entries(
    (
      find(manifests, 'ConfigMap', 'model-router-dashboards') as unknown as {
        data: Record<string, string>;
      }
    ).data,
  ).map(([file, text]) => ({ file, ...(JSON.parse(text) as Dashboard) }));

/** The links of an alert. */
const linksOf = (...words: string[]) => {
  const rule = find(
    templated('--namespace', 'prod', ...stored, ...words),
    'PrometheusRule',
    'model-router',
  ) as unknown as {
    spec: { groups: { rules: { alert?: string; annotations?: Record<string, string> }[] }[] };
  };
  const { annotations = {} } = rule.spec.groups
    .flatMap(({ rules }) => rules)
    .find(({ alert }) => alert === 'RouterQueueStalled') ?? { annotations: {} };
  return Object.entries(annotations).filter(([name]) => name.endsWith('_url'));
};

/** Without what Helm or the values add, and without inherent differences between the two. */
function bare(manifest: Manifest): unknown {
  const copy = structuredClone(manifest) as Manifest & {
    metadata: { annotations?: unknown };
    spec?: {
      template?: { metadata: { annotations?: unknown }; spec: { containers: Record<string, unknown>[] } };
    };
  };
  delete copy.metadata.annotations;
  delete copy.metadata.labels?.['app.kubernetes.io/managed-by'];
  delete copy.spec?.template?.metadata.annotations;
  const replicas = copy.spec as { replicas?: number } | undefined;
  if (manifest.kind === 'Deployment') delete replicas?.replicas;
  for (const container of copy.spec?.template?.spec.containers ?? []) {
    delete container['image'];
    delete container['imagePullPolicy'];
  }
  return JSON.parse(JSON.stringify(copy).replaceAll(/"model-router-[a-z0-9]{10}"/g, '"model-router"'));
}

describeWith('k8s/chart', () => {
  it('passes helm lint, with its values and with each example', () => {
    for (const words of [[], ...examples.map(valuesOf)]) {
      const { status, stdout } = helm('lint', '--strict', chart, ...words);
      expect({ status, stdout }).toMatchObject({ status: 0 });
    }
  });

  it('renders its default values to what kustomize makes of the base', () => {
    const made = new Map(templated(...stored).map((each) => [`${each.kind} ${each.metadata.name}`, each]));
    const base = rendered(tools.kubectl, 'k8s/base').filter(({ kind }) => kind !== 'ConfigMap');
    expect(base.length).toBeGreaterThan(12);
    for (const manifest of base) {
      const name = `${manifest.kind} ${manifest.metadata.name}`;
      expect([name, made.has(name) && bare(made.get(name) as Manifest)]).toEqual([name, bare(manifest)]);
    }
  });

  it('renders only objects of the API’s types, with each of at least 20 sets of values', () => {
    expect(examples.length).toBeGreaterThanOrEqual(20);
    const manifests = examples.map((example) => templated(...valuesOf(example)));
    expect(Math.min(...manifests.map(({ length }) => length))).toBeGreaterThan(8);
    const distinct = new Map(manifests.flat().map((each) => [JSON.stringify(each), each]));
    expect(typeErrors([...distinct.values()])).toBe('');
  });

  it.each(examples)('describes examples/%s.yaml', (example) =>
    expect(textOf('k8s/chart/README.md')).toContain(`\`examples/${example}.yaml\``),
  );

  it('configures only valid settings', () => {
    const { data } = find(templated(...valuesOf('production')), 'ConfigMap', 'model-router') as unknown as {
      data: Record<string, string>;
    };
    const known = { ...gatewaySettings, ...workerSettings };
    expect(Object.keys(data).filter((name) => !Object.hasOwn(known, name))).toEqual([]);
    const secret = {
      DATABASE_URL: 'postgres://router:secret@postgres:5432/router',
      JWT_SECRET: 'a-secret-of-at-least-32-characters',
      SIGNING_SECRET: 'a-secret-of-at-least-32-characters',
    };
    expect(readSettings(gatewaySettings, { ...data, ...secret })).toMatchObject({
      PUBLIC_BASE_URL: 'https://router.example.com',
      CATALOG_DIR: '/etc/model-router/catalog',
    });
  });

  it('migrates before an install and an upgrade, with an account that exists by then', () => {
    const manifests = templated(...stored);
    const hooked = (kind: string) =>
      (find(manifests, kind, 'migrate') as { metadata: { annotations?: object } } | undefined)?.metadata
        .annotations;
    expect(hooked('Job')).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    expect(hooked('ServiceAccount')).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '-1',
    });
  });

  it('applies the values: image, secrets, catalog, scaling, networks, labels, monitoring', () => {
    const manifests = templated(...valuesOf('production'));
    const text = JSON.stringify(find(manifests, 'Deployment', 'worker'));
    expect(text).toContain('registry.example.com/model-router:0.1.0@sha256:');
    expect(text).toContain('"name":"black-forest-labs"');
    expect(text).not.toContain('model-router-provider-bfl"');
    expect(text).toContain('"mountPath":"/etc/model-router/catalog"');
    expect(text).toContain('"memory":"2Gi"');
    expect(text).toContain('"--max-old-space-size=1536"');
    expect(text).toContain('"team":"platform"');
    expect(text).not.toContain('"replicas"');
    expect(find(manifests, 'ScaledObject', 'worker')).toMatchObject({ spec: { maxReplicaCount: 40 } });
    expect(JSON.stringify(find(manifests, 'NetworkPolicy', 'scrapes'))).toContain(
      '["monitoring","observability"]',
    );
    expect(JSON.stringify(find(manifests, 'NetworkPolicy', 'names'))).toContain('10.96.0.10/32');
    expect(JSON.stringify(find(manifests, 'NetworkPolicy', 'to-datastores'))).toContain('10.21.0.0/24');
    const kinds = new Set(manifests.map(({ kind }) => kind));
    expect([...kinds]).toEqual(
      expect.arrayContaining(['Ingress', 'PodMonitor', 'PrometheusRule', 'TriggerAuthentication']),
    );
  });

  it('gives dashboards and links the release’s own names, so that releases can share a Grafana', () => {
    const made = dashboardsOf(templated(...valuesOf('production'), '--namespace', 'prod'));
    const elsewhere = dashboardsOf(templated(...valuesOf('production'), '--namespace', 'staging'));
    const unique = (each: (dashboard: Dashboard & { file: string }) => string) =>
      new Set([...made, ...elsewhere].map(each)).size;
    expect(made.length).toBe(Object.keys(dashboards).length);
    for (const each of [unique(({ uid }) => uid), unique(({ title }) => title), unique(({ file }) => file)])
      expect(each).toBe(2 * made.length);
    for (const { uid, file } of made) {
      expect(uid).toMatch(/^model-router-[0-9a-f]{8}-\w+$/);
      expect(uid.length).toBeLessThanOrEqual(40);
      expect(file).toBe(`${uid}.json`);
    }
    const files = monitoringFiles({ runbooks: 'https://docs.example.com/alerts' });
    const overview = made.find(({ uid }) => uid.endsWith('-overview'));
    expect({ ...overview, file: '' }).toEqual({
      ...(JSON.parse(files.get('monitoring/dashboards/overview.json') ?? '') as object),
      file: '',
      uid: overview?.uid,
      title: 'Model router (prod/model-router): service',
    });
  });

  it('links alerts where the values have an address, and nowhere else', () => {
    expect(linksOf('--set', 'monitoring.rules=true')).toEqual([]);
    expect(linksOf(...valuesOf('production'))).toEqual([
      [
        'dashboard_url',
        expect.stringMatching(
          /^https:\/\/grafana\.example\.com\/d\/model-router-[0-9a-f]{8}-queues\?var-cluster=\{\{ \$labels\.cluster \}\}&var-namespace=\{\{ \$labels\.namespace \}\}$/,
        ),
      ],
      ['runbook_url', 'https://docs.example.com/alerts#routerqueuestalled'],
    ]);
  });

  it.each([
    ['SELECT workers_wanted( 250 / 5.0, 200 * 10)', []],
    [
      'SELECT workers_wanted( 1000 / 5.0, 80 * 10)',
      ['config.WORKER_DISPATCH_CONCURRENCY=1000', 'config.WORKER_POLL_CONCURRENCY=80'],
    ],
    [
      'SELECT workers_wanted( 30, 700)',
      ['worker.keda.submissionsPerWorker=30', 'worker.keda.polledPerWorker=700'],
    ],
  ])('scales workers by %s', (query, values) => {
    const set = ['worker.keda.enabled=true', ...values].flatMap((value) => ['--set', value]);
    const scaler = find(templated(...stored, ...set), 'ScaledObject', 'worker') as Scaler;
    expect(scaler.spec.triggers[0]?.metadata['query']).toBe(query);
  });

  it('mounts the catalog’s files where they are read', async () => {
    const manifests = templated(...valuesOf('production'));
    const { data } = find(manifests, 'ConfigMap', 'model-router-catalog') as unknown as {
      data: Record<string, string>;
    };
    const { volumes } = (find(manifests, 'Deployment', 'gateway') as Workload).spec.template.spec;
    // Each key becomes a file of that name.
    expect(volumes).toContainEqual({ name: 'catalog', configMap: { name: 'model-router-catalog' } });
    const folder = temporaryFolder('mounted');
    for (const [name, text] of Object.entries(data)) writeFileSync(path.join(folder, name), text);
    const { models } = await loadCatalog({ directories: [...builtInDirectories(), folder] });
    rmSync(folder, { recursive: true });
    expect(models.map(({ id }) => id)).toContain('bfl/flux-2-pro');
    expect(models.map(({ id }) => id)).not.toContain('bfl/flux-dev');
  });

  it('gives the worker the Secret of a declared provider', () => {
    const manifests = templated(...stored, '--set', 'secrets.providers.mine=my-keys');
    const secretsOf = (name: string) =>
      (find(manifests, 'Deployment', name) as Workload).spec.template.spec.containers[0]?.envFrom?.map(
        ({ secretRef }) => secretRef?.name,
      );
    expect(secretsOf('worker')).toContain('my-keys');
    expect(secretsOf('gateway')).not.toContain('my-keys');
  });

  it('gives gateway and worker the time that the settings allow for a stop, and 30 s', () => {
    expect(graceOf('gateway')).toBe(630);
    expect(graceOf('worker')).toBe(630);
    const set = ['--set', 'config.CLOSE_TIMEOUT_MS=120500', '--set-string', 'config.WORKER_CLOSE_MS=900000'];
    expect(graceOf('gateway', ...set)).toBe(151);
    expect(graceOf('worker', ...set)).toBe(930);
  });

  it('writes numbers unchanged', () => {
    const folder = temporaryFolder('values');
    const file = path.join(folder, 'values.yaml');
    writeFileSync(file, 'config: { FILE_LIMIT: 104857600, PROVIDER_GOOGLE_PROJECT: 123456789012 }\n');
    const { data } = find(templated(...stored, '--values', file), 'ConfigMap', 'model-router') as unknown as {
      data: Record<string, string>;
    };
    rmSync(folder, { recursive: true });
    expect(data).toMatchObject({ FILE_LIMIT: '104857600', PROVIDER_GOOGLE_PROJECT: '123456789012' });
  });
});

describeWith('a packaged chart', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'model-router-chart-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('contains the targets of its links', () => {
    expect(helm('package', chart, '--destination', folder)).toMatchObject({ status: 0 });
    const archive = path.join(folder, 'model-router-0.1.0.tgz');
    const { status, stdout } = helm('template', 'model-router', archive, ...valuesOf('production'));
    expect(status).toBe(0);
    expect(stdout).toBe(helm('template', 'model-router', chart, ...valuesOf('production')).stdout);
  });
});

describe('the chart', () => {
  it('has the version of the project', () => {
    const { version } = JSON.parse(textOf('package.json')) as { version: string };
    expect(textOf('k8s/chart/Chart.yaml')).toContain(`\nversion: ${version}\nappVersion: ${version}\n`);
    expect(textOf('k8s/chart/values.yaml')).toContain(`tag: ${version}`);
  });
});
