import { describe, expect, it } from '@jest/globals';
import { providerList } from '#providers';
import { readSettings } from '#schemas';
import { createStore, storageSettings } from '#storage';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { gatewaySettings } from '../../apps/gateway/src/settings.js';
import { workerSettings } from '../../apps/worker/src/settings.js';
import { filesBelow, pathOf, textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { createDatabase, failOnLeftovers } from '../harness/index.js';
import type { Container, Pod, Policy, Scaler, Workload } from './objects.js';
import { type Manifest, rendered, typeErrors } from './rendered.js';

const { describeWith, tools } = await withTools('kubectl');
const overlays = ['dev', 'production'];
/** URLs in a provider's reply must never lead to these ranges. */
const closed: Record<string, string[]> = {
  '0.0.0.0/0': [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '169.254.0.0/16',
    '100.64.0.0/10',
    '127.0.0.0/8',
  ],
  // Private and link-local addresses are outside this network; the ranges in it embed IPv4 addresses.
  '2000::/3': ['2001::/32', '2002::/16'],
};
const kinds = new Set(['Deployment', 'StatefulSet', 'Job']);
const workloadsOf = (manifests: Manifest[]): Workload[] =>
  manifests.filter(({ kind }) => kinds.has(kind)) as Workload[];
const named = (manifests: Manifest[], kind: string, name: string): Manifest => {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
};
const deployment = (manifests: Manifest[], name: string): Workload =>
  named(manifests, 'Deployment', name) as Workload;
const only = (pod: Pod): Container => pod.containers[0] as Container;

const limitMiB = ({ resources }: Container): number => {
  const [, number, unit = ''] = /^(\d+)(Mi|Gi)$/.exec(resources.limits['memory'] ?? '') ?? [];
  return Number(number) * (unit === 'Gi' ? 1024 : 1);
};
const heapMiB = ({ env = [] }: Container): number =>
  Number(env.find(({ name }) => name === 'NODE_OPTIONS')?.value?.replace('--max-old-space-size=', ''));

describeWith.each(overlays)('k8s/overlays/%s', (overlay) => {
  const manifests = tools.kubectl ? rendered(tools.kubectl, `k8s/overlays/${overlay}`) : [];
  const workloads = workloadsOf(manifests);

  it('contains only objects of the API’s types', () => expect(typeErrors(manifests)).toBe(''));

  it('puts everything into one namespace, which enforces the restricted standard', () => {
    const namespace = named(manifests, 'Namespace', overlay === 'dev' ? 'model-router-dev' : 'model-router');
    expect(namespace.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    const elsewhere = manifests.filter(
      ({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== namespace.metadata.name,
    );
    expect(elsewhere).toEqual([]);
  });

  it.each(workloads.map((workload) => [workload.metadata.name, workload] as const))(
    'runs %s without rights, with bounds, from a named version',
    (_name, { spec }) => {
      const pod = spec.template.spec;
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: expect.any(Number),
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(pod.volumes?.filter((volume) => 'hostPath' in volume) ?? []).toEqual([]);
      for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.image).toMatch(/(:\d[\w.-]*|@sha256:[0-9a-f]{64})$/);
        expect(Object.keys(container.resources.requests).sort()).toEqual(['cpu', 'memory']);
        expect(Object.keys(container.resources.limits)).toContain('memory');
      }
      // The image's own setting is for 1 GiB.
      const own = pod.containers.filter(({ image }) => image.includes('model-router'));
      expect(own.map(heapMiB)).toEqual(own.map((container) => 0.75 * limitMiB(container)));
    },
  );

  it.each([
    ['gateway', 'internal'],
    ['worker', 'internal'],
  ])('probes %s on its port %s, spreads it, and limits disruptions of it', (name, port) => {
    const { spec } = deployment(manifests, name);
    const container = only(spec.template.spec);
    expect(container.ports?.map((each) => each.name)).toContain(port);
    const live = { httpGet: { path: '/health/live', port } };
    expect(container.startupProbe).toMatchObject(live);
    expect(container.livenessProbe).toMatchObject(live);
    expect(container.readinessProbe).toMatchObject({ httpGet: { path: '/health/ready', port } });
    expect(spec.template.spec.topologySpreadConstraints).toHaveLength(2);
    expect(spec.strategy).toMatchObject({ rollingUpdate: { maxUnavailable: 0 } });
    const budget = named(manifests, 'PodDisruptionBudget', name);
    expect(budget).toMatchObject({
      spec: {
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector: { matchLabels: { 'app.kubernetes.io/name': name } },
      },
    });
  });

  it('gives providers’ keys only to the worker, one Secret each', () => {
    const known = providerList.map(({ name }) => `model-router-provider-${name}`);
    const secrets = workloads.map(({ metadata, spec }) => [
      metadata.name,
      (only(spec.template.spec).envFrom ?? [])
        .map(({ secretRef }) => secretRef?.name ?? '')
        .filter((name) => name.includes('provider')),
    ]);
    const holders = secrets.filter(([, names = []]) => names.length > 0);
    expect(holders.map(([name]) => name)).toEqual(['worker']);
    expect(holders[0]?.[1]).toEqual(known.sort());
  });

  it('configures only valid settings', async () => {
    const { data } = manifests.find(
      (each) => each.kind === 'ConfigMap' && 'LOG_LEVEL' in (each as unknown as { data: object }).data,
    ) as unknown as {
      data: Record<string, string>;
    };
    const known = { ...gatewaySettings, ...workerSettings };
    expect(Object.keys(data).filter((name) => !Object.hasOwn(known, name))).toEqual([]);
    const secret = {
      DATABASE_URL: 'postgres://router:secret@postgres:5432/router',
      REDIS_URL: 'redis://valkey:6379',
      JWT_SECRET: 'a-secret-of-at-least-32-characters',
      SIGNING_SECRET: 'a-secret-of-at-least-32-characters',
    };
    const gateway = readSettings(gatewaySettings, { ...data, ...secret });
    const worker = readSettings(workerSettings, { ...data, ...secret });
    const storage = readSettings(storageSettings, { ...data, ...secret });
    expect(storage.S3_BUCKET === undefined).toBe(overlay === 'dev');
    await (await createStore(storage)).store.close();
    const graceMs = (name: string) =>
      (deployment(manifests, name).spec.template.spec.terminationGracePeriodSeconds ?? 0) * 1000;
    const preStop = only(deployment(manifests, 'gateway').spec.template.spec).lifecycle;
    expect(preStop).toEqual({ preStop: { sleep: { seconds: 10 } } });
    expect(graceMs('gateway')).toBeGreaterThan(10_000 + gateway.CLOSE_TIMEOUT_MS);
    // A stop must not cut off a submission, however long its provider may take; closing the transport may take
    // five more seconds.
    expect(worker.WORKER_CLOSE_MS).toBeGreaterThan(
      Math.max(...providerList.map(({ submitTimeoutMs }) => submitTimeoutMs)),
    );
    expect(graceMs('worker')).toBeGreaterThan(worker.WORKER_CLOSE_MS + 5_000);
  });

  it('denies traffic by default, and allows only the data stores in the private ranges', () => {
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy') as Policy[];
    expect(named(policies, 'NetworkPolicy', 'default-deny')['spec']).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    });
    const blocks = policies.flatMap(({ metadata, spec }) =>
      (spec.egress ?? []).flatMap(({ to = [], ports }) =>
        to.flatMap(({ ipBlock }) => (ipBlock ? [{ name: metadata.name, ...ipBlock, ports }] : [])),
      ),
    );
    const inside = blocks.filter(({ name }) => name === 'to-datastores');
    expect(inside.flatMap(({ ports }) => ports?.map(({ port }) => port))).toEqual(
      overlay === 'dev' ? [] : [5432, 6379],
    );
    const names = blocks.filter(({ name }) => name === 'names');
    expect(names.every(({ cidr, ports }) => cidr.endsWith('/32') && ports?.[0]?.port === 53)).toBe(true);
    const others = blocks.filter((block) => !inside.includes(block) && !names.includes(block));
    for (const { cidr, except = [], ports } of others) {
      expect(except).toEqual(expect.arrayContaining(closed[cidr] ?? ['another network']));
      expect(ports).toEqual([{ protocol: 'TCP', port: 443 }]);
    }
    expect(others.map(({ cidr }) => cidr)).toEqual(Object.keys(closed));
    // An egress rule without a destination would allow every destination.
    expect(policies.flatMap(({ spec }) => spec.egress ?? []).filter(({ to }) => !to)).toEqual([]);
  });

  it('migrates before anything else starts', () => {
    const job = named(manifests, 'Job', 'migrate') as Workload;
    expect(only(job.spec.template.spec).args).toEqual(['admin', 'migrate']);
    // The next release applies it again.
    expect(job.spec).toMatchObject({ ttlSecondsAfterFinished: 3600 });
  });
});

describeWith('the check of the API’s types', () => {
  const manifests = tools.kubectl ? rendered(tools.kubectl, 'k8s/overlays/production') : [];
  const planted = (kind: string, from: string, to: string) => {
    const text = JSON.stringify(manifests.find((each) => each.kind === kind));
    if (!text.includes(from)) throw new Error(`${kind} has no ${from}`);
    return JSON.parse(text.replace(from, to)) as Manifest;
  };

  it('rejects misspelt fields and wrong types, in objects of the core and of both operators', () => {
    const said = typeErrors([
      planted('Deployment', '"livenessProbe"', '"livenesProbe"'),
      planted('Deployment', '"terminationGracePeriodSeconds"', '"terminationGracePeriodSecond"'),
      planted('Job', '"backoffLimit":5', '"backoffLimit":"5"'),
      planted('NetworkPolicy', '"podSelector"', '"podSelektor"'),
      planted('ScaledObject', '"minReplicaCount"', '"minReplicas"'),
      planted('PodMonitor', '"podMetricsEndpoints"', '"podMetricEndpoints"'),
    ]);
    const refused = [...said.matchAll(/error TS\d+: (?:Object literal[^']*'"(\w+)"'|Type '(\w+)')/g)];
    expect(refused.map(([, field, type]) => field ?? type)).toEqual([
      'livenesProbe',
      'terminationGracePeriodSecond',
      'string',
      'podSelektor',
      'minReplicas',
      'podMetricEndpoints',
    ]);
  });
});

describeWith('the scaler of the workers', () => {
  const production = tools.kubectl ? rendered(tools.kubectl, 'k8s/overlays/production') : [];
  const scaler = () => named(production, 'ScaledObject', 'worker') as Scaler;

  it('never scales to zero, and alone sets the number of workers', () => {
    expect(scaler().spec.minReplicaCount).toBeGreaterThanOrEqual(2);
    expect(deployment(production, 'worker').spec.replicas).toBeUndefined();
  });

  it('follows the concurrency settings of an overlay, whose defaults are the worker’s', () => {
    const { data } = production.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('model-router-'),
    ) as unknown as { data: Record<string, string> };
    const { WORKER_DISPATCH_CONCURRENCY, WORKER_POLL_CONCURRENCY } = workerSettings;
    const defaults = readSettings({ WORKER_DISPATCH_CONCURRENCY, WORKER_POLL_CONCURRENCY }, {});
    for (const [name, value] of Object.entries(defaults))
      expect([name, data[name]]).toEqual([name, `${value}`]);
    mkdirSync(pathOf('.local'), { recursive: true });
    const folder = mkdtempSync(pathOf('.local/overlay-'));
    const overlay = {
      resources: ['../../k8s/base'],
      components: ['../../k8s/components/keda'],
      configMapGenerator: [
        { name: 'model-router', behavior: 'merge', literals: ['WORKER_DISPATCH_CONCURRENCY=1000'] },
      ],
    };
    writeFileSync(path.join(folder, 'kustomization.yaml'), JSON.stringify(overlay));
    const own = rendered(tools.kubectl, path.relative(pathOf('.'), folder));
    rmSync(folder, { recursive: true });
    expect((named(own, 'ScaledObject', 'worker') as Scaler).spec.triggers[0]?.metadata['query']).toBe(
      'SELECT workers_wanted( 1000 / 5.0, 200 * 10)',
    );
  });

  it('scales by the work that waits in the database, and not by parked runs', async () => {
    const query = scaler().spec.triggers[0]?.metadata['query'] ?? '';
    const database = await createDatabase();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      const wanted = async () =>
        Number(Object.values((await client.query<Record<string, string>>(query)).rows[0] ?? {})[0]);
      expect(await wanted()).toBe(0);
      const insert = (queue: string, runs: number) =>
        client.query(
          `INSERT INTO outbox (run_id, workspace_id, provider, queue, reserved_micros, due_at, waiting)
           SELECT gen_random_uuid(), gen_random_uuid(), 'bfl', $1::text, 0, now(), $1::text = 'dispatch' FROM generate_series(1, $2)`,
          [queue, runs],
        );
      await insert('backlog', 500);
      expect(await wanted()).toBe(0);
      await insert('dispatch', 150);
      await insert('poll', 4_000);
      expect(await wanted()).toBe(5);
    } finally {
      await client.end();
      await database.drop();
    }
  });
});

describe('the simulated providers of a trial', () => {
  it('are complete', () => {
    const lines = textOf('k8s/components/trial-providers/providers.env').split('\n');
    const named = lines.flatMap((line) => /^PROVIDER_.*_BASE_URL=.*\/([^/]+)$/.exec(line)?.[1] ?? []);
    expect(named.sort()).toEqual(providerList.map(({ name }) => name).sort());
  });
});

describe('kustomizations', () => {
  const folders = filesBelow('k8s')
    .filter((name) => name.endsWith('/kustomization.yaml'))
    .map((name) => name.slice(0, -'/kustomization.yaml'.length));

  it.each(folders)('in %s list every file of their folder', (folder) => {
    const text = textOf(`${folder}/kustomization.yaml`);
    const files = filesBelow(folder).map((name) => name.slice(folder.length + 1));
    expect(files.filter((name) => name !== 'kustomization.yaml' && !text.includes(name))).toEqual([]);
  });
});

describe('the overlays that are tested', () => {
  it('are complete', () => expect(readdirSync(pathOf('k8s/overlays')).sort()).toEqual(overlays));
});

failOnLeftovers();
