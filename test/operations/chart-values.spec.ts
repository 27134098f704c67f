import { expect, it } from '@jest/globals';
import { withTools } from '../harness/faults.js';
import { Chart, chart, find, stored, valuesOf } from './chart.js';
import type { Container, Workload } from './objects.js';
import type { Manifest } from './rendered.js';

const { describeWith, tools } = await withTools('helm');
const packed = new Chart(tools.helm);
const given = (example: string, ...words: string[]) => packed.templated(...valuesOf(example), ...words);

const kinds = { gateway: 'Deployment', worker: 'Deployment', migrate: 'Job' } as const;
type App = keyof typeof kinds;
const apps = Object.keys(kinds) as App[];

function workload(manifests: Manifest[], name: App): Workload {
  const found = find(manifests, kinds[name], name);
  if (!found) throw new Error(`no ${name}`);
  return found as Workload;
}
const podOf = (manifests: Manifest[], name: App) => workload(manifests, name).spec.template.spec;
const containerOf = (manifests: Manifest[], name: App) => podOf(manifests, name).containers[0] as Container;
const heapOf = (manifests: Manifest[], name: App) =>
  containerOf(manifests, name).env?.find((each) => each.name === 'NODE_OPTIONS')?.value;

const derived = (limit: string) =>
  heapOf(packed.templated(...stored, '--set-string', `gateway.resources.limits.memory=${limit}`), 'gateway');

describeWith('values of pods', () => {
  it('give all apps variables, volumes and mounts, and a variable replaces one of the same name', () => {
    const manifests = given('secrets-from-the-environment', '--set', 'gateway.extraEnv[0].name=NODE_OPTIONS');
    for (const app of apps) {
      const { env, envFrom } = containerOf(manifests, app);
      expect(env).toContainEqual({
        name: 'DATABASE_URL',
        valueFrom: { secretKeyRef: { name: 'cluster-app', key: 'uri' } },
      });
      expect(envFrom).toContainEqual({ secretRef: { name: 'shared', optional: true } });
      expect(envFrom).toContainEqual({ secretRef: { name: 'router' } });
    }
    expect(containerOf(manifests, 'worker').envFrom).toContainEqual({
      configMapRef: { name: 'worker-settings' },
    });
    expect(JSON.stringify(podOf(manifests, 'gateway'))).not.toContain('worker-settings');
    expect(containerOf(manifests, 'migrate').env).toContainEqual({ name: 'LOG_LEVEL', value: 'debug' });
    expect(containerOf(manifests, 'gateway').env?.filter(({ name }) => name === 'NODE_OPTIONS')).toHaveLength(
      1,
    );
    const files = given('files-on-a-volume');
    for (const app of ['gateway', 'worker'] as const) {
      expect(podOf(files, app).volumes).toContainEqual({
        name: 'assets',
        persistentVolumeClaim: { claimName: 'router-assets' },
      });
      expect(containerOf(files, app).volumeMounts).toContainEqual({ name: 'assets', mountPath: '/assets' });
    }
  });

  it('place pods: selectors, tolerations, affinity, priority, spreading', () => {
    const manifests = given('dedicated-nodes');
    for (const app of apps)
      expect(podOf(manifests, app)).toMatchObject({
        nodeSelector: { 'example.com/pool': 'router' },
        tolerations: [{ key: 'example.com/pool', operator: 'Equal', value: 'router', effect: 'NoSchedule' }],
        priorityClassName: app === 'worker' ? 'router-worker' : 'router',
        affinity: { nodeAffinity: expect.anything() },
      });
    expect(podOf(manifests, 'gateway')).toMatchObject({ affinity: { podAntiAffinity: expect.anything() } });
    expect(podOf(manifests, 'worker')).not.toMatchObject({
      affinity: { podAntiAffinity: expect.anything() },
    });
    expect(podOf(manifests, 'gateway').topologySpreadConstraints).toEqual([
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'gateway' } },
      },
    ]);
    expect(podOf(manifests, 'worker').topologySpreadConstraints).toHaveLength(2);
    expect(find(manifests, 'Pod', 'test')?.['spec']).toMatchObject({
      nodeSelector: { 'example.com/pool': 'router' },
      priorityClassName: 'router',
    });
  });

  it('leave the user to OpenShift, and nothing else of the security context', () => {
    const manifests = given('openshift');
    for (const app of apps) {
      expect(podOf(manifests, app).securityContext).toEqual({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(containerOf(manifests, app).securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
    }
    expect(find(manifests, 'Pod', 'test')?.['spec']).not.toMatchObject({
      securityContext: { runAsUser: expect.anything() },
    });
    expect(podOf(given('files-on-a-volume'), 'gateway').securityContext).toMatchObject({
      fsGroup: 65_532,
      fsGroupChangePolicy: 'OnRootMismatch',
      runAsUser: 65_532,
    });
    expect(
      containerOf(
        packed.templated(...stored, '--set', 'pods.containerSecurityContext.readOnlyRootFilesystem=false'),
        'worker',
      ).securityContext,
    ).toMatchObject({ readOnlyRootFilesystem: false });
  });

  it('resolve names, and add init containers, sidecars, labels and annotations', () => {
    const names = given('names-of-hosts');
    const sidecars = given('sidecars');
    const small = given('small-cluster');
    for (const app of apps) {
      expect(podOf(names, app)).toMatchObject({
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['10.96.0.10', '10.30.0.53'], options: [{ name: 'ndots', value: '1' }] },
        hostAliases: [{ ip: '10.20.0.5', hostnames: ['postgres.internal.example.com'] }],
      });
      expect(podOf(sidecars, app).initContainers).toEqual([
        expect.objectContaining({ name: 'database-proxy', restartPolicy: 'Always' }),
      ]);
      expect(podOf(sidecars, app).containers.map(({ name }) => name)).toEqual(
        app === 'gateway' ? ['gateway', 'logs'] : [app],
      );
      expect(workload(small, app).spec.template.metadata).toMatchObject({
        labels: { 'sidecar.istio.io/inject': 'false', team: 'platform' },
        annotations: { 'example.com/scrape': 'true', 'example.com/owner': 'platform' },
      });
      expect(containerOf(small, app).securityContext).toMatchObject({
        seccompProfile: { type: 'RuntimeDefault' },
        readOnlyRootFilesystem: true,
      });
    }
  });

  it('set the heap to three quarters of the memory limit, or to the given number', () => {
    const manifests = given('large-memory');
    expect(apps.map((app) => heapOf(manifests, app))).toEqual([
      '--max-old-space-size=3072',
      '--max-old-space-size=2400',
      '--max-old-space-size=768',
    ]);
    expect(derived('512Mi')).toBe('--max-old-space-size=384');
    expect(derived('3G')).toBe('--max-old-space-size=2145');
    expect(derived('1073741824')).toBe('--max-old-space-size=768');
    expect(containerOf(manifests, 'gateway').resources).toMatchObject({
      requests: { cpu: 2, memory: '2Gi' },
      limits: { memory: '4Gi' },
    });
  });

  it('mount a certificate authority in all apps, which Node trusts', () => {
    const manifests = given('private-certificates');
    for (const app of apps) {
      expect(podOf(manifests, app).volumes).toContainEqual({
        name: 'certificate-authority',
        configMap: { name: 'company-ca' },
      });
      expect(containerOf(manifests, app)).toMatchObject({
        env: expect.arrayContaining([
          { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/model-router/certificates/ca.crt' },
        ]),
        volumeMounts: expect.arrayContaining([
          { name: 'certificate-authority', mountPath: '/etc/model-router/certificates', readOnly: true },
          { name: 'postgres-client', mountPath: '/etc/postgres', readOnly: true },
        ]),
      });
    }
    const secret = packed.templated(...stored, '--set', 'certificateAuthority.secret=internal-tls');
    expect(podOf(secret, 'worker').volumes).toContainEqual({
      name: 'certificate-authority',
      secret: { secretName: 'internal-tls' },
    });
  });
});

const service = (example: string) => find(given(example), 'Service', 'gateway');

describeWith('values of apps', () => {
  it('merge into the probes, and replace the strategy', () => {
    const manifests = given('slow-nodes');
    expect(containerOf(manifests, 'gateway')).toMatchObject({
      startupProbe: {
        failureThreshold: 120,
        periodSeconds: 2,
        httpGet: { path: '/health/live', port: 'internal' },
      },
      readinessProbe: { periodSeconds: 10, timeoutSeconds: 5, httpGet: { path: '/health/ready' } },
    });
    expect(containerOf(manifests, 'worker').livenessProbe).toMatchObject({ failureThreshold: 12 });
    expect(workload(manifests, 'gateway').spec.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 0, maxUnavailable: 1 },
    });
    expect(workload(manifests, 'worker').spec.strategy).toEqual({ type: 'Recreate' });
  });

  it('set the grace period', () => {
    const manifests = given('spot-nodes');
    for (const app of ['gateway', 'worker'] as const)
      expect(podOf(manifests, app).terminationGracePeriodSeconds).toBe(110);
  });

  it('set the Service’s type, port, families and annotations', () => {
    expect(service('load-balancer')).toMatchObject({
      metadata: {
        annotations: { 'service.beta.kubernetes.io/aws-load-balancer-ssl-ports': '443' },
      },
      spec: {
        type: 'LoadBalancer',
        loadBalancerClass: 'service.k8s.aws/nlb',
        loadBalancerSourceRanges: ['203.0.113.0/24'],
        externalTrafficPolicy: 'Local',
        ports: [{ name: 'http', port: 443, targetPort: 'http' }],
      },
    });
    expect(service('node-port')).toMatchObject({
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] },
    });
    expect(service('ipv6')).toMatchObject({
      spec: { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] },
    });
  });

  it('scale by the given metrics, and workers without KEDA', () => {
    const metrics = given('own-metrics');
    expect(find(metrics, 'HorizontalPodAutoscaler', 'gateway')).toMatchObject({
      spec: {
        metrics: [{ type: 'Resource' }, { type: 'Pods', pods: { metric: { name: 'router_held_calls' } } }],
        behavior: {
          scaleUp: { stabilizationWindowSeconds: 0 },
          scaleDown: { stabilizationWindowSeconds: 600 },
        },
      },
    });
    expect(find(metrics, 'HorizontalPodAutoscaler', 'worker')).toMatchObject({
      spec: { metrics: [{ type: 'External' }] },
    });
    const cpu = given('workers-by-cpu');
    expect(find(cpu, 'HorizontalPodAutoscaler', 'worker')).toMatchObject({
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'worker' },
        minReplicas: 3,
        maxReplicas: 30,
        metrics: [{ type: 'Resource', resource: { name: 'cpu' } }],
        behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
      },
    });
    expect(workload(cpu, 'worker').spec.replicas).toBeUndefined();
    expect(find(given('minimal'), 'HorizontalPodAutoscaler', 'worker')).toBeUndefined();
  });

  it('leave out what a small cluster has no use for', () => {
    const manifests = given('small-cluster');
    expect(new Set(manifests.map(({ kind }) => kind))).toEqual(
      new Set(['ServiceAccount', 'ConfigMap', 'Service', 'Deployment', 'Job', 'Pod']),
    );
    for (const app of ['gateway', 'worker'] as const) {
      expect(workload(manifests, app).spec.replicas).toBe(1);
      expect(podOf(manifests, app).topologySpreadConstraints).toBeUndefined();
    }
  });
});

const bucket = 'config.S3_BUCKET=router-assets';

const failureOf = (values: readonly string[]) => {
  const { status, stderr } = packed.helm(
    'template',
    'model-router',
    chart,
    ...values.flatMap((value) => ['--set', value]),
  );
  return status === 0 ? 'no failure' : stderr;
};

describeWith('wrong values', () => {
  it.each([
    'gateway.replica=3',
    'pods.extraEnvs[0].name=A',
    'pods.extraEnv[0].vaule=1',
    'pods.extraEnv[0].name=2BAD',
    'gateway.envFrom[0].secretRef.nam=a',
    'gateway.extraVolumes[0].name=a',
    'worker.extraVolumes[0].hostPath.path=/',
    'worker.extraVolumeMounts[0].mountPath=relative',
    'migrate.affinity.nodeAfinity.a=b',
    'pods.tolerations[0].effect=Never',
    'gateway.topologySpreadConstraints[0].maxSkew=1',
    'pods.nodeSelector.a=true',
    'pods.priorityClassName=1',
    'pods.podSecurityContext.runAsUsr=1',
    'pods.containerSecurityContext.privileged=true',
    'gateway.service.type=ExternalName',
    'gateway.service.nodePort=80',
    'worker.service.type=NodePort',
    'gateway.strategy.type=Rolling',
    'worker.livenessProbe.failureTreshold=3',
    'gateway.readinessProbe.periodSeconds=0',
    'gateway.terminationGracePeriodSeconds=10m',
    'gateway.initContainers[0].name=no-image',
    'gateway.sidecars[0].image=no-name',
    'migrate.sidecars[0].name=never-ends',
    'pods.dnsConfig.nameserver=10.0.0.1',
    'pods.hostAliases[0].ip=10.0.0.1',
    'gateway.autoscaling.metrics[0].type=Cpu',
    'worker.autoscaling.minReplicas=0',
    'gateway.resources.limits.memory=1GB',
    'nameOverride=Upper',
    'fullnameOverride=with.dots',
    'certificateAuthority.configmap=a',
    'trial.enable=true',
    'catalog.files.models/hidden\\.yaml=unread',
    'image.tag=latest',
    'config.JWT_SECRET=never-in-a-config-map',
    'config.DATABASE_DIRECT_URL=postgres://router:secret@postgres/router',
    'config.S3_SESSION_TOKEN=never-in-a-config-map',
    'network.datastores.cidrs={everywhere}',
    'httpRoute.enabled=true',
    'worker.keda.minReplicas=0',
    'worker.keda.polledPerWorker=0',
    'monitoring.runbooks=docs/operations/alerts.md',
  ])('are rejected: %s', (value) =>
    expect(failureOf([value])).toContain("values don't meet the specifications of the schema"),
  );

  it.each([
    ['gateway has no storage: set config.S3_BUCKET', []],
    [
      'gateway has no volume at config.ASSET_DIR (not set)',
      ['config.ASSET_BASE_URL=https://router.example.com'],
    ],
    [
      'worker has no volume at config.ASSET_DIR (/assets)',
      [
        'config.ASSET_BASE_URL=https://router.example.com',
        'config.ASSET_DIR=/assets',
        'gateway.extraVolumeMounts[0].name=assets',
        'gateway.extraVolumeMounts[0].mountPath=/assets',
      ],
    ],
    [
      'gateway.maxOldSpaceMiB is 900, but the memory limit is 768Mi',
      [bucket, 'gateway.resources.limits.memory=768Mi', 'gateway.maxOldSpaceMiB=900'],
    ],
    [
      'gateway.terminationGracePeriodSeconds is 60, but config.CLOSE_TIMEOUT_MS needs 630',
      [bucket, 'gateway.terminationGracePeriodSeconds=60'],
    ],
    [
      'worker.keda and worker.autoscaling both set the number of workers',
      [bucket, 'worker.keda.enabled=true', 'worker.autoscaling.enabled=true'],
    ],
    ['worker.autoscaling.minReplicas is above maxReplicas', [bucket, 'worker.autoscaling.minReplicas=30']],
    [
      'certificateAuthority: set configMap or secret',
      [bucket, 'certificateAuthority.configMap=a', 'certificateAuthority.secret=b'],
    ],
  ])('that cannot start fail: %s', (reason, values) => expect(failureOf(values)).toContain(reason));

  it('are not suspected where a Secret may contain the setting', () => {
    const words = ['--set', 'pods.envFrom[0].secretRef.name=storage'];
    expect(packed.templated(...words).length).toBeGreaterThan(10);
  });
});
