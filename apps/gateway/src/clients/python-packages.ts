import { type Entry, sha256, tarball, zip } from './archives.js';

/** The parts of pyproject.toml that the metadata of a package repeat. */
interface Project {
  name: string;
  version: string;
  description: string;
  requiresPython: string;
  license: string;
  /** The packages that it needs, with their versions. */
  dependencies: readonly string[];
}

/** Reads the client's own pyproject.toml, in which each of these members is a line. */
export function projectOf(toml: string): Project {
  const member = (name: string) => {
    const value = new RegExp(`^${name} = (?:\\{ text = )?"([^"]*)"`, 'm').exec(toml)?.[1];
    if (value === undefined) throw new Error(`pyproject.toml has no ${name}`);
    return value;
  };
  return {
    name: member('name'),
    version: member('version'),
    description: member('description'),
    requiresPython: member('requires-python'),
    license: member('license'),
    dependencies: [...(/^dependencies = \[(.*)\]$/m.exec(toml)?.[1]?.matchAll(/"([^"]+)"/g) ?? [])].map(
      ([, each = '']) => each,
    ),
  };
}

const stemOf = ({ name, version }: Project) => `${name.replaceAll('-', '_')}-${version}`;

const metadata = ({ name, version, description, license, requiresPython, dependencies }: Project) =>
  [
    'Metadata-Version: 2.1',
    `Name: ${name}`,
    `Version: ${version}`,
    `Summary: ${description}`,
    `License: ${license}`,
    `Requires-Python: ${requiresPython}`,
    ...dependencies.map((each) => `Requires-Dist: ${each}`),
    'License-File: LICENSE',
    '',
  ].join('\n');

/**
 * The wheel of a package in Python alone. It is built here because the image is built without Python. `modules` are
 * named from the root of the wheel.
 */
export function wheel(project: Project, modules: readonly Entry[], license: Buffer): Entry {
  const folder = `${stemOf(project)}.dist-info`;
  const kind = 'Wheel-Version: 1.0\nGenerator: model-router\nRoot-Is-Purelib: true\nTag: py3-none-any\n';
  const entries = [
    ...modules,
    { name: `${folder}/LICENSE`, bytes: license },
    { name: `${folder}/METADATA`, bytes: Buffer.from(metadata(project)) },
    { name: `${folder}/WHEEL`, bytes: Buffer.from(kind) },
  ];
  const lines = entries.map(
    ({ name, bytes }) => `${name},sha256=${sha256(bytes).digest('base64url')},${bytes.length}\n`,
  );
  const record = `${folder}/RECORD`;
  const bytes = zip([...entries, { name: record, bytes: Buffer.from(`${lines.join('')}${record},,\n`) }]);
  return { name: `${stemOf(project)}-py3-none-any.whl`, bytes };
}

/** The source distribution, which pip builds with setuptools. */
export function sourceDistribution(project: Project, files: readonly Entry[]): Entry {
  const all = [...files, { name: 'PKG-INFO', bytes: Buffer.from(metadata(project)) }];
  const folder = stemOf(project);
  return {
    name: `${folder}.tar.gz`,
    bytes: tarball(all.map(({ name, bytes }) => ({ name: `${folder}/${name}`, bytes }))),
  };
}
