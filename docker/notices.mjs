// Writes THIRD-PARTY-NOTICES: the packages below a folder's node_modules and those in the console's bundle, with the texts
// of their licences.
//   node docker/notices.mjs <folder with node_modules> [console]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const licenceFile = /^(licen[cs]e|notice|copying|copyright)/i;
const consoleBundle = 'dist/apps/console/licenses.json';
/** Style sheets are not in the bundler's list. */
const consoleStyles = 'apps/console/src';

/** The texts of a package's own licence and notice files. */
export function licenceTexts(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && licenceFile.test(entry.name) && !/\.(js|ts|map)$/.test(entry.name))
    .map(({ name }) => readFileSync(path.join(folder, name), 'utf8').trim())
    .sort();
}

/** The packages that are installed below `folder/node_modules`. */
export function installedPackages(folder) {
  return readdirSync(path.join(folder, 'node_modules'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === 'package.json')
    .map(({ parentPath }) => parentPath)
    .filter((parent) => /node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+$/.test(parent))
    .map(packageIn);
}

/** The packages of which the console's scripts, style sheets and fonts are made. */
export function consolePackages() {
  const bundled = JSON.parse(readFileSync(consoleBundle, 'utf8')).map(
    ({ name, version, identifier, text }) => ({
      name,
      version,
      license: identifier,
      texts: text ? [text] : [],
    }),
  );
  const sources = readdirSync(consoleStyles, { recursive: true })
    .filter((name) => /\.(tsx?|css)$/.test(name))
    .map((name) => readFileSync(path.join(consoleStyles, name), 'utf8'))
    .join('\n');
  const fonts = [...new Set(sources.match(/@fontsource[\w-]*\/[\w-]+/g))];
  return [...bundled, ...fonts.map((name) => packageIn(path.join('node_modules', name)))];
}

function packageIn(folder) {
  const { name, version, license, author } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  return {
    name,
    version,
    license: typeof license === 'string' ? license : license?.type,
    author: typeof author === 'string' ? author : author?.name,
    texts: licenceTexts(folder),
  };
}

/** One entry per name and version, ordered. */
export const distinct = (packages) =>
  [...new Map(packages.map((each) => [`${each.name}@${each.version}`, each])).values()].sort((one, other) =>
    `${one.name}@${one.version}` < `${other.name}@${other.version}` ? -1 : 1,
  );

/** Packages with the same texts share a section. */
export function noticesOf(packages) {
  const sections = new Map();
  for (const each of distinct(packages)) {
    const stated = `The package states ${each.license ?? 'no licence'}${each.author ? `, by ${each.author}` : ''}, and contains no text of it.`;
    const text = each.texts.length > 0 ? each.texts.join('\n\n') : stated;
    sections.set(text, [...(sections.get(text) ?? []), each]);
  }
  const line = '='.repeat(80);
  const written = [...sections].map(([text, members]) => {
    const names = members.map(
      ({ name, version, license }) => `${name} ${version} (${license ?? 'see below'})`,
    );
    return `${line}\n${names.join('\n')}\n${line}\n\n${text}\n`;
  });
  return `model-router contains these packages under their own licences.\n\n${written.join('\n')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = '', part] = process.argv.slice(2);
  const packages = [...installedPackages(folder), ...(part === 'console' ? consolePackages() : [])];
  writeFileSync(path.join(folder, 'THIRD-PARTY-NOTICES'), noticesOf(packages));
}
