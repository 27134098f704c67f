// Fails if the folders of an app import each other in a cycle. A file beside the folders counts as a folder;
// specs are exempt.
import { cruise } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const { output } = await cruise(
  ['apps'],
  {
    doNotFollow: { path: ['node_modules', '^libs/'] },
    exclude: { path: ['\\.spec\\.ts$', '/testing/', '^dist/'] },
    tsPreCompilationDeps: true,
  },
  undefined,
  { tsConfig: extractTSConfig('tsconfig.json') },
);

const folderOf = (file) => /^apps\/[^/]+\/src\/[^/]+/.exec(file)?.[0];
let imports = output.modules
  .flatMap(({ source, dependencies }) => dependencies.map(({ resolved }) => ({ source, resolved })))
  .map((each) => ({ ...each, from: folderOf(each.source), to: folderOf(each.resolved) }))
  .filter(({ from, to }) => from !== undefined && to !== undefined && from !== to);

// Drop every import that is not part of a cycle until only cycles are left.
for (let before = Infinity; imports.length < before;) {
  before = imports.length;
  const importing = new Set(imports.map(({ from }) => from));
  const imported = new Set(imports.map(({ to }) => to));
  imports = imports.filter(({ from, to }) => importing.has(to) && imported.has(from));
}

for (const { source, resolved } of imports)
  process.stderr.write(`error no-cycle-between-folders: ${source} → ${resolved}\n`);
process.exitCode = imports.length === 0 ? 0 : 1;
