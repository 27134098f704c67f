// Copies the package files that the named apps can load into a folder. Leaves out maps, types, documents, other module
// formats and drivers of other databases, but keeps each package's licence.
//   node docker/loaded.mjs <folder> <app>…
import { nodeFileTrace } from '@vercel/nft';
import { cp, readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';

/** The entry points of each app: its main file and the threads that it starts. */
const entries = {
  gateway: ['main.js', 'bodies/check-thread.js'],
  worker: ['main.js', 'calls/reply-thread.js'],
  admin: ['main.js'],
  simulator: ['main.js'],
};

/** Files whose paths are built at run time, which the trace cannot see. */
const alsoRead = ['node_modules/@bull-board/ui/package.json', 'node_modules/@bull-board/ui/dist'];

const [target = '', ...apps] = process.argv.slice(2);
const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'));
// Packages that load others optionally would pull in tools and the embedded Postgres, which exist only during the build.
const left = Object.entries(packages)
  .filter(([, { dev, optional, devOptional }]) => dev || optional || devOptional)
  .map(([folder]) => `${folder}/`);
// node_modules may be a link to a folder elsewhere.
const modules = await realpath('node_modules');
const named = (file) => path.join('/', file).replace(`${modules}/`, 'node_modules/');
const { fileList } = await nodeFileTrace(
  apps.flatMap((app) => entries[app].map((file) => path.join('dist/apps', app, 'src', file))),
  { base: '/', ignore: (file) => left.some((folder) => named(file).startsWith(folder)) },
);
const loaded = [...fileList].map(named).filter((file) => file.startsWith('node_modules/'));
const wanted = apps.includes('gateway') ? [...loaded, ...alsoRead] : loaded;
const folders = new Set(wanted.map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? ''));
for (const folder of folders) {
  const files = (await readdir(folder)).filter((name) =>
    /^(licen[cs]e|notice|copying|copyright)/i.test(name),
  );
  wanted.push(...['package.json', ...files].map((name) => `${folder}/${name}`));
}
for (const file of new Set(wanted)) {
  await cp(file, path.join(target, file), { recursive: true });
}
