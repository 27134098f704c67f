import { expect, it } from '@jest/globals';
import { withTools } from '../harness/faults.js';
import { Chart, chart, find, stored, valuesOf } from './chart.js';
import type { Policy, Workload } from './objects.js';
import type { Manifest } from './rendered.js';

const { describeWith, tools } = await withTools('helm');
const packed = new Chart(tools.helm);
const given = (example: string, ...values: string[]) =>
  packed.templated(...valuesOf(example), ...values.flatMap((value) => ['--set', value]));
const withValues = (...values: string[]) =>
  packed.templated(...stored, ...values.flatMap((value) => ['--set', value]));
const policy = (manifests: Manifest[], name: string) => find(manifests, 'NetworkPolicy', name) as Policy;
const deployment = (manifests: Manifest[], name: string) => find(manifests, 'Deployment', name) as Workload;
const graceOf = (manifests: Manifest[], name: string) =>
  deployment(manifests, name).spec.template.spec.terminationGracePeriodSeconds;
const intervalOf = (manifests: Manifest[]) => find(manifests, 'PodMonitor', 'model-router')?.['spec'];
const lifecycleOf = (manifests: Manifest[]) =>
  deployment(manifests, 'gateway').spec.template.spec.containers[0]?.lifecycle;

describeWith('groups of workers', () => {
  const manifests = given('worker-groups');
  const group = deployment(manifests, 'worker-spot');

  it('have their own number, settings, resources and nodes, and otherwise the worker’s', () => {
    const worker = deployment(manifests, 'worker');
    expect([worker.spec.replicas, group.spec.replicas]).toEqual([2, 6]);
    const pod = group.spec.template.spec;
    const [container] = pod.containers;
    expect(container?.env).toEqual(
      expect.arrayContaining([
        { name: 'NODE_OPTIONS', value: '--max-old-space-size=1536' },
        { name: 'WORKER_DISPATCH_CONCURRENCY', value: '500' },
        { name: 'WORKER_CLOSE_MS', value: '60000' },
      ]),
    );
    expect(container?.envFrom).toEqual(worker.spec.template.spec.containers[0]?.envFrom);
    expect(pod).toMatchObject({
      serviceAccountName: 'worker',
      terminationGracePeriodSeconds: 90,
      nodeSelector: { 'example.com/pool': 'spot' },
      tolerations: [{ key: 'example.com/spot' }],
    });
    expect(graceOf(manifests, 'worker')).toBe(630);
    expect(worker.spec.template.spec).not.toMatchObject({ nodeSelector: expect.anything() });
    expect(JSON.stringify(worker)).not.toContain('"500"');
  });

  it('have pods that are workers to policies, scrapes and the one disruption budget', () => {
    expect(group.spec.template.metadata.labels).toMatchObject({
      'app.kubernetes.io/name': 'worker',
      'app.kubernetes.io/component': 'spot',
    });
    expect(group.spec).toMatchObject({
      selector: {
        matchLabels: { 'app.kubernetes.io/name': 'worker', 'app.kubernetes.io/component': 'spot' },
      },
    });
    const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual(['gateway', 'worker']);
  });

  it('keep their number while KEDA scales the worker, and get names of the release', () => {
    const named = given('worker-groups', 'fullnameOverride=images', 'worker.keda.enabled=true');
    expect(deployment(named, 'images-worker').spec.replicas).toBeUndefined();
    expect(deployment(named, 'images-worker-spot').spec).toMatchObject({
      replicas: 6,
      selector: { matchLabels: { 'app.kubernetes.io/instance': 'images' } },
      template: { spec: { serviceAccountName: 'images-worker' } },
    });
  });
});

describeWith('egress', () => {
  const manifests = given('private-services');

  it('reaches what the values name, by port and app, and nothing else', () => {
    const egressOf = (name: string) => policy(manifests, name).spec.egress;
    expect(egressOf('to-bucket')).toEqual([
      { to: [{ ipBlock: { cidr: '10.40.0.0/24' } }], ports: [{ protocol: 'TCP', port: 9000 }] },
    ]);
    expect(policy(manifests, 'to-bucket').spec.podSelector.matchExpressions?.[0]?.values).toEqual([
      'gateway',
      'worker',
      'admin',
    ]);
    expect(egressOf('to-collector')).toEqual([
      {
        to: [
          {
            namespaceSelector: {
              matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['tracing'] }],
            },
          },
        ],
        ports: [{ protocol: 'TCP', port: 4318 }],
      },
    ]);
    expect(egressOf('internet')?.[0]?.ports).toEqual([
      { protocol: 'TCP', port: 443 },
      { protocol: 'TCP', port: 8443 },
    ]);
    expect(policy(manifests, 'default-deny').spec.policyTypes).toEqual(['Ingress', 'Egress']);
    const names = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map((each) => each.metadata.name);
    expect(
      names.filter((name) => policy(manifests, name).spec.policyTypes.includes('Egress')).sort(),
    ).toEqual(['default-deny', 'internet', 'names', 'test', 'to-bucket', 'to-collector', 'to-datastores']);
  });

  it('is not limited where there are no policies, and is of this release only', () => {
    const off = given('private-services', 'network.enabled=false');
    expect(off.filter(({ kind }) => kind === 'NetworkPolicy')).toEqual([]);
    const named = given('private-services', 'fullnameOverride=images');
    expect(policy(named, 'images-to-bucket').spec.podSelector.matchLabels).toEqual({
      'app.kubernetes.io/instance': 'images',
    });
  });
});

describeWith('other objects', () => {
  it('the Ingress has several hosts, of which only some have TLS', () => {
    const { spec } = find(given('private-services'), 'Ingress', 'gateway') as unknown as {
      spec: { tls: object[]; rules: { host: string }[] };
    };
    expect(spec.rules.map(({ host }) => host)).toEqual(['router.example.com', 'router.internal.example.com']);
    expect(spec.tls).toEqual([{ hosts: ['router.example.com'], secretName: 'router-tls' }]);
  });

  it('the PodMonitor has the given interval', () => {
    expect(intervalOf(given('private-services'))).toMatchObject({
      podMetricsEndpoints: [{ interval: '30s' }],
    });
    expect(intervalOf(given('production'))).toMatchObject({ podMetricsEndpoints: [{ interval: '15s' }] });
  });

  it('a disruption budget counts what must stay, and other fields of a rollout are set', () => {
    const manifests = given('migrated-elsewhere');
    expect(find(manifests, 'PodDisruptionBudget', 'gateway')?.['spec']).toEqual({
      minAvailable: 3,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { 'app.kubernetes.io/name': 'gateway' } },
    });
    expect(find(manifests, 'PodDisruptionBudget', 'worker')?.['spec']).toMatchObject({ maxUnavailable: 1 });
    expect(deployment(manifests, 'gateway').spec).toMatchObject({
      minReadySeconds: 15,
      revisionHistoryLimit: 3,
      template: { spec: { runtimeClassName: 'gvisor' } },
    });
  });

  it('a stop begins after preStopSeconds, for which the grace period has room', () => {
    const later = given('migrated-elsewhere');
    expect(lifecycleOf(later)).toEqual({ preStop: { sleep: { seconds: 25 } } });
    expect([graceOf(later, 'gateway'), graceOf(later, 'worker')]).toEqual([645, 630]);
    const atOnce = withValues('gateway.preStopSeconds=0');
    expect(lifecycleOf(atOnce)).toBeUndefined();
    expect(graceOf(atOnce, 'gateway')).toBe(620);
  });

  it('no Job migrates if something else does, also in a trial', () => {
    for (const manifests of [given('migrated-elsewhere'), given('trial', 'migrate.enabled=false')]) {
      expect(manifests.filter(({ kind }) => kind === 'Job')).toEqual([]);
      // The account of docs/operations/admin-job.yaml.
      expect(find(manifests, 'ServiceAccount', 'migrate')).toBeDefined();
    }
  });
});

const failureOf = (...values: string[]) =>
  packed.helm('template', 'model-router', chart, ...stored, ...values.flatMap((value) => ['--set', value]))
    .stderr;

describeWith('wrong values', () => {
  it.each([
    'worker.groups.spot.keda.enabled=true',
    'worker.groups.spot.replica=1',
    'worker.groups.Spot.replicas=1',
    'worker.groups.spot.config.MAX_CONECTIONS=5',
    'network.egress[0].name=a',
    'network.egress[0].cidrs={10.0.0.0/8}',
    'network.publicPorts={0}',
    'ingress.hosts[0].tlsSecret=a',
    'monitoring.scrapeInterval=60s',
    'monitoring.scrapeInterval=15',
    'gateway.disruptionBudgetSpec.minAvailable=many',
    'gateway.preStopSeconds=-1',
    'worker.preStopSeconds=10',
    'migrate.enable=false',
  ])('are rejected: %s', (value) =>
    expect(failureOf(value)).toContain("values don't meet the specifications of the schema"),
  );

  it('that cannot start fail: two counts in one budget, an autoscaler that counts the groups', () => {
    const both = ['minAvailable', 'maxUnavailable'].map((name) => `gateway.disruptionBudgetSpec.${name}=1`);
    expect(failureOf(...both)).toContain('gateway.disruptionBudgetSpec');
    expect(failureOf('worker.autoscaling.enabled=true', 'worker.groups.spot.replicas=1')).toContain(
      'worker.groups have pods that worker.autoscaling would count',
    );
  });
});
