// Part of `npm run build`: packs the built clients into dist/apps/gateway/clients, from where the gateway serves them
// and a release takes them.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { release } from '#observability';
import { packageRoot } from '#schemas';
import { type Entry, tarball } from './archives.js';
import { packagesFolder } from './packages-folder.js';
import { projectOf, sourceDistribution, wheel } from './python-packages.js';

const root = packageRoot();
const client = path.join(root, 'libs/client');
const python = path.join(client, 'python');

/** The files below a folder that match, ordered by name. */
function filesBelow(folder: string, matches: RegExp): Entry[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .map((file) => ({ file, name: path.relative(folder, file).split(path.sep).join('/') }))
    .filter(({ name }) => matches.test(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ file, name }) => ({ name, bytes: readFileSync(file) }));
}

const license = { name: 'LICENSE', bytes: readFileSync(path.join(root, 'LICENSE')) };
const typedModules = filesBelow(path.join(client, 'dist/python'), /^model_router\/([^/]+\.pyi?|py\.typed)$/);
const toml = filesBelow(python, /^pyproject\.toml$/);
const project = projectOf(String(toml[0]?.bytes));

const manifests = filesBelow(client, /^(package\.json|README\.md)$/);
const compiled = filesBelow(path.join(client, 'dist'), /\.(js|d\.ts|json)$/);
const npmFiles = [
  license,
  ...manifests,
  ...compiled.map(({ name, bytes }) => ({ name: `dist/${name}`, bytes })),
];
const manifest = JSON.parse(String(manifests.find(({ name }) => name === 'package.json')?.bytes)) as {
  name: string;
  version: string;
};

for (const { version } of [manifest, project])
  if (version !== release.version)
    throw new Error(`a client has version ${version}, but package.json has ${release.version}`);

const packages = [
  {
    name: `${manifest.name}-${manifest.version}.tgz`,
    bytes: tarball(npmFiles.map(({ name, bytes }) => ({ name: `package/${name}`, bytes }))),
  },
  wheel(project, typedModules, license.bytes),
  sourceDistribution(project, [license, ...toml, ...typedModules]),
];

rmSync(packagesFolder, { recursive: true, force: true });
mkdirSync(packagesFolder, { recursive: true });
for (const { name, bytes } of packages) writeFileSync(path.join(packagesFolder, name), bytes);
