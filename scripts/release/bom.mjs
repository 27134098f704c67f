// The CycloneDX document of what the image contains.
import { execFileSync } from 'node:child_process';

/**
 * npm describes every package of the lock file. Only those are kept that the image contains, and what the base image
 * adds. It has no serial number, and its time is that of the commit, so that the same source has the same document.
 */
export function bomOf({ version, source, packages, system }) {
  const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const whole = JSON.parse(
    execFileSync('npm', words, { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const contained = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  const components = new Map();
  for (const each of whole.components) {
    const key = keyOf(each);
    const { name } = /^(?<name>.+)@/.exec(key).groups;
    if (contained.has(key)) components.set(key, { ...each, name, scope: 'required' });
  }
  const unknown = [...contained].filter((name) => !components.has(name));
  if (unknown.length > 0) throw new Error(`npm sbom does not list: ${unknown.join(', ')}`);
  const kept = new Set([...components.values()].map((each) => each['bom-ref']));
  const root = whole.metadata.component;
  const dependencies = whole.dependencies
    .filter(({ ref }) => kept.has(ref) || ref === root['bom-ref'])
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
  const { serialNumber: _, ...document } = whole;
  return {
    ...document,
    metadata: {
      ...document.metadata,
      ...(source.builtAt !== 'unknown' && { timestamp: source.builtAt }),
      component: {
        ...root,
        name: 'model-router',
        version,
        properties: [{ name: 'git:revision', value: source.revision }],
      },
    },
    components: [...components.values(), ...system.map(({ component }) => component)],
    dependencies,
  };
}

/** Name and version. npm names a package that is installed under an alias only here as it is published. */
const keyOf = ({ purl }) => decodeURIComponent(purl.replace(/^pkg:npm\/([^?]+).*$/, '$1'));
