// Fails if the index of a library exports a name that nothing outside the library imports. knip finds none of them, because
// it takes an index for an entry. Imports in `test` do not count, because they may name any file; those of specs beside
// the code do, because the import rules leave them only the index.
import { readdirSync, readFileSync } from 'node:fs';

const byFile = /(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/g;
const awaited = /\{([^{}]*)\}\s*=\s*\(?await \w+\(\s*'([^']+)'/g;
const ofType = /import\('([^']+)'\)\.(\w+)/g;

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file))
    .map((file) => `${folder}/${file}`);

const namesIn = (list) =>
  list.split(',').flatMap((each) => {
    const [name, other = name] = each
      .trim()
      .replace(/^type /, '')
      .split(/ as |: /);
    return name === '' ? [] : [{ name, other }];
  });

const libraryOf = (specifier) =>
  /^#(\w+)$/.exec(specifier)?.[1] ?? /libs\/(\w+)\/src\/index(?:\.js)?$/.exec(specifier)?.[1];

const imported = new Set();
for (const file of ['apps', 'libs', 'monitoring', 'scripts', 'docker'].flatMap(filesIn)) {
  const text = readFileSync(file, 'utf8');
  const found = [
    ...[...text.matchAll(byFile), ...text.matchAll(awaited)].map(([, names, from]) => [from, names]),
    ...[...text.matchAll(ofType)].map(([, from, name]) => [from, name]),
  ];
  for (const [from, names] of found) {
    const library = libraryOf(from);
    if (library === undefined || file.startsWith(`libs/${library}/`)) continue;
    for (const { name } of namesIn(names)) imported.add(`${library} ${name}`);
  }
}

// The client is a package of its own, whose names are its interface.
for (const library of readdirSync('libs').filter((name) => name !== 'client')) {
  const index = `libs/${library}/src/index.ts`;
  for (const [, names] of readFileSync(index, 'utf8').matchAll(byFile)) {
    for (const { other: name } of namesIn(names)) {
      if (imported.has(`${library} ${name}`)) continue;
      process.stderr.write(`${index} exports ${name}, which nothing outside the library imports\n`);
      process.exitCode = 1;
    }
  }
}
