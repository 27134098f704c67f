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

/** What `kubectl apply -k` would send, without a cluster. */
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

/**
 * What the compiler says of the objects as literals of the API's types: a field that does not exist, a wrong type
 * and a missing field are errors. The empty string when all are right.
 */
export function typeErrors(manifests: readonly Manifest[]): string {
  const folder = path.join(checkout, '.local');
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(path.join(folder, 'manifests-'));
  try {
    const literals = manifests.map(
      (manifest, index) =>
        `export const ${manifest.kind}${index}: ${typeOf(manifest)} = ${JSON.stringify(manifest, null, 1)};`,
    );
    writeFileSync(path.join(work, 'manifests.ts'), literals.join('\n'));
    execFileSync(
      process.execPath,
      [path.join(checkout, 'node_modules/typescript7/bin/tsc'), ...options, path.join(work, 'manifests.ts')],
      { encoding: 'utf8', timeout: 300_000, cwd: checkout },
    );
    return '';
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    // Nothing was said, so that it was not judged.
    if (!stdout) throw error;
    return stdout;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
