import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { readSettings } from '#schemas';
import { gatewaySettings } from '../../apps/gateway/src/settings.js';
import { simulatorSettings } from '../../apps/simulator/src/settings.js';
import { workerSettings } from '../../apps/worker/src/settings.js';
import { filesBelow, textOf } from '../documents/checkout-files.js';

interface Container {
  name: string;
  args: string[];
  ports?: { name: string }[];
  envFrom: { secretRef?: { name: string }; configMapRef?: { name: string } }[];
  securityContext: object;
  resources: { requests: Record<string, string>; limits: { memory: string } };
  [probe: string]: unknown;
}
interface Pod {
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext: object;
  containers: [Container];
}
interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: { template: { spec: Pod } };
}
interface Kustomization {
  resources: string[];
  configMapGenerator: [{ name: string; literals: string[] }];
}

const base = 'k8s/base';
const kustomization = parse(textOf(`${base}/kustomization.yaml`)) as Kustomization;
const manifests = kustomization.resources.flatMap((name) =>
  parseAllDocuments(textOf(`${base}/${name}`)).map((document) => document.toJS() as Manifest),
);
const podOf = (name: string): Pod => {
  const found = manifests.find(({ kind, metadata }) => kind !== 'Service' && metadata.name === name);
  if (!found) throw new Error(`no workload ${name}`);
  return found.spec.template.spec;
};
const configured = Object.fromEntries(
  kustomization.configMapGenerator[0].literals.map((literal) => literal.split('=') as [string, string]),
);
const secret = {
  DATABASE_URL: 'postgres://router:secret@postgres:5432/router',
  REDIS_URL: 'redis://valkey:6379',
  JWT_SECRET: 'a-secret-of-at-least-32-characters',
  SIGNING_SECRET: 'a-secret-of-at-least-32-characters',
};

describe('k8s/base', () => {
  it('lists every file of its folder', () => {
    const files = filesBelow(base).map((name) => name.slice(base.length + 1));
    expect([...kustomization.resources, 'kustomization.yaml'].sort()).toEqual(files);
  });

  it.each(['gateway', 'worker', 'migrate'])('holds %s to the restricted standard', (name) => {
    const pod = podOf(name);
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    const [container] = pod.containers;
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources.requests['memory']).toBeDefined();
    expect(container.resources.limits.memory).toBeDefined();
    expect(container.args[0]).toBe(name === 'migrate' ? 'admin' : name);
  });

  it.each([
    ['gateway', 'http'],
    ['worker', 'internal'],
  ])('probes %s on its port %s', (name, port) => {
    const [container] = podOf(name).containers;
    expect(container.ports?.map((each) => each.name)).toContain(port);
    expect(container['readinessProbe']).toMatchObject({ httpGet: { path: '/health/ready', port } });
    expect(container['livenessProbe']).toMatchObject({ httpGet: { path: '/health/live', port } });
    expect(container['startupProbe']).toMatchObject({ httpGet: { path: '/health/live', port } });
  });

  it('gives partners’ keys to the worker only', () => {
    const holders = ['gateway', 'worker', 'migrate'].filter((name) =>
      podOf(name).containers[0].envFrom.some(({ secretRef }) => secretRef?.name === 'model-router-providers'),
    );
    expect(holders).toEqual(['worker']);
  });

  it('configures with settings that exist and pass, and gives a stop the time it takes', () => {
    const known = { ...gatewaySettings, ...workerSettings };
    expect(Object.keys(configured).filter((name) => !Object.hasOwn(known, name))).toEqual([]);
    const gateway = readSettings(gatewaySettings, { ...configured, ...secret });
    const worker = readSettings(workerSettings, { ...configured, ...secret });
    const preStopMs = 10_000;
    expect(podOf('gateway').containers[0]['lifecycle']).toEqual({ preStop: { sleep: { seconds: 10 } } });
    expect((podOf('gateway').terminationGracePeriodSeconds ?? 0) * 1000).toBeGreaterThan(
      preStopMs + gateway.CLOSE_TIMEOUT_MS,
    );
    // Closing the transport may take five seconds more.
    expect((podOf('worker').terminationGracePeriodSeconds ?? 0) * 1000).toBeGreaterThan(
      worker.WORKER_CLOSE_MS + 5_000,
    );
  });
});

describe('docker/compose.yaml', () => {
  interface Service {
    image?: string;
    build?: { target: string };
    command?: string[];
    environment?: Record<string, string>;
    depends_on?: Record<string, object>;
  }
  const { services } = parse(textOf('docker/compose.yaml'), { merge: true }) as {
    services: Record<string, Service>;
  };
  const environmentOf = (name: string) => services[name]?.environment ?? {};

  it('gives gateway and worker environments that pass, with settings that exist', () => {
    expect(readSettings(gatewaySettings, environmentOf('gateway')).REDIS_URL).toBe('redis://valkey:6379');
    expect(readSettings(workerSettings, environmentOf('worker')).REDIS_URL).toBe('redis://valkey:6379');
    const shapes = { gateway: { ...gatewaySettings, ...workerSettings }, simulator: simulatorSettings };
    expect(unknown('gateway', shapes.gateway)).toEqual([]);
    expect(unknown('worker', shapes.gateway)).toEqual([]);
    expect(unknown('simulator', shapes.simulator)).toEqual([]);
  });

  it('sends the worker to the simulator', () => {
    const ports = readSettings(simulatorSettings, environmentOf('simulator'));
    const worker = readSettings(workerSettings, environmentOf('worker'));
    const named = Object.entries(environmentOf('worker')).filter(([name]) => name.endsWith('_BASE_URL'));
    expect(named.map(([, url]) => new URL(url).port)).toEqual(named.map(() => String(ports.SIMULATOR_PORT)));
    expect(worker.ASSET_ALLOWED_ORIGINS).toEqual([`http://127.0.0.1:${ports.SIMULATOR_ASSET_PORT}`]);
  });

  it('depends on services that exist and builds stages that exist', () => {
    const wanted = Object.values(services).flatMap(({ depends_on: others = {} }) => Object.keys(others));
    expect(wanted.filter((name) => !Object.hasOwn(services, name))).toEqual([]);
    const stages = [...textOf('docker/Dockerfile').matchAll(/^FROM \S+ AS (\w+)$/gm)].map(
      ([, stage]) => stage,
    );
    const targets = Object.values(services).flatMap(({ build }) => (build ? [build.target] : []));
    expect(targets.filter((target) => !stages.includes(target))).toEqual([]);
  });

  const unknown = (name: string, shape: object): string[] =>
    Object.keys(environmentOf(name)).filter((each) => !Object.hasOwn(shape, each));
});
