import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { checkout } from '../../apps/local/src/checkout.js';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

/** The objects that `kubectl apply -k` would send, without a cluster. */
export function rendered(kubectl: string, folder: string): Manifest[] {
  const yaml = execFileSync(kubectl, ['kustomize', path.join(checkout, folder)], {
    encoding: 'utf8',
    maxBuffer: 32 * 1024 * 1024,
    timeout: 180_000,
  });
  return parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);
}

const options = '--noEmit --strict --skipLibCheck --module nodenext --types node --ignoreConfig'.split(' ');
const packages: Record<string, string> = {
  'external-secrets.io': '@kubernetes-models/external-secrets',
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

function typeOf({ apiVersion, kind }: Manifest): string {
  const [group = '', version] = apiVersion.split('/');
  const owner = (version !== undefined && packages[group]) || 'kubernetes-models';
  return `import('${owner}/${apiVersion}/${kind}').I${kind}`;
}

/** The compiler's errors for the objects as literals of the API's types; empty if they are all valid. */
export const typeErrors = (manifests: readonly Manifest[]): string =>
  literalErrors(manifests.map((value) => ({ type: typeOf(value), value })));

/** Unknown fields, wrong types and missing fields are errors. */
export function literalErrors(literals: readonly { type: string; value: object }[], types = ''): string {
  const folder = path.join(checkout, '.local');
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(path.join(folder, 'literals-'));
  try {
    const lines = literals.map(
      ({ type, value }, index) => `export const at${index}: ${type} = ${JSON.stringify(value, null, 1)};`,
    );
    const file = path.join(work, 'literals.ts');
    writeFileSync(file, [types, ...lines].join('\n'));
    execFileSync(
      process.execPath,
      [path.join(checkout, 'node_modules/typescript7/bin/tsc'), ...options, file],
      { encoding: 'utf8', timeout: 300_000, cwd: checkout },
    );
    return '';
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    // Without output nothing was checked.
    if (!stdout) throw error;
    return stdout;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
