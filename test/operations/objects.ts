import type { Manifest } from './rendered.js';

interface Probe {
  httpGet?: { path: string; port: string };
}
export interface Container {
  name: string;
  image: string;
  args?: string[];
  ports?: { name: string; containerPort: number }[];
  envFrom?: { secretRef?: { name: string }; configMapRef?: { name: string } }[];
  env?: { name: string; value?: string }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  volumeMounts?: object[];
  securityContext: object;
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: object;
}
export interface Pod {
  automountServiceAccountToken: boolean;
  serviceAccountName?: string;
  terminationGracePeriodSeconds?: number;
  topologySpreadConstraints?: unknown[];
  securityContext: object;
  containers: Container[];
  initContainers?: Container[];
  volumes?: Record<string, unknown>[];
}
export interface Workload extends Manifest {
  spec: {
    replicas?: number;
    strategy?: object;
    template: { metadata: { labels: Record<string, string> }; spec: Pod };
  };
}
export interface Scaler extends Manifest {
  spec: { minReplicaCount: number; triggers: { metadata: Record<string, string> }[] };
}
export interface Policy extends Manifest {
  spec: {
    podSelector: { matchLabels?: Record<string, string>; matchExpressions?: { values: string[] }[] };
    policyTypes: string[];
    ingress?: unknown[];
    egress?: {
      to?: { ipBlock?: { cidr: string; except?: string[] } }[];
      ports?: { port: number | string }[];
    }[];
  };
}
