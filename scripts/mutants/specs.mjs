// The spec files in the order in which they are likely to notice a mutant: those beside it, those that import it or
// call its SQL function (the nearest first), and those that use its words.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** A test that recognises any edit shows nothing about the behaviour. */
const recognisesEdits = 'libs/persistence/src/functions.spec.ts';

/** `suites`: each Jest project with its spec files. Returns the function that orders them for a mutant. */
export function specOrder(suites, sources) {
  const specs = suites.flatMap(({ project, files }) => files.map((file) => ({ project, file })));
  const importsOf = importGraph([...new Set([...sources, ...specs.map(({ file }) => file)])]);
  const { likeness, naming } = wordIndex(specs.map(({ file }) => file));
  const reached = new Map(specs.map(({ file }) => [file, distances(file, importsOf)]));
  return ({ file, near, passage }) => {
    const isLike = likeness(`${file} ${passage}`);
    const names = naming(near);
    return specs
      .filter(({ file }) => file !== recognisesEdits)
      .map(({ project, file: spec }) => {
        const distance = isBeside(spec, file) ? 0.5 : reached.get(spec).get(file);
        return {
          project,
          file: spec,
          isNear: distance <= 3,
          score: isLike(spec) + names(spec) + 1 / (distance ?? Infinity),
        };
      })
      .sort((left, right) => right.score - left.score);
  };
}

const isBeside = (spec, file) => spec.replace(/(\.db)?\.spec\.ts$/, '.ts') === file;

/** For each file, the files that it imports from, and those that define the SQL functions that it calls. */
function importGraph(files) {
  const texts = new Map();
  const textOf = (file) => {
    if (!texts.has(file)) texts.set(file, readFileSync(file, 'utf8'));
    return texts.get(file);
  };
  const importsOf = new Map();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (importsOf.has(file)) continue;
    const found = importedBy(file, textOf(file));
    importsOf.set(file, found);
    waiting.push(...found);
  }
  const definedIn = new Map();
  for (const [file, text] of texts)
    for (const [, name] of text.matchAll(/CREATE OR REPLACE FUNCTION (\w+)/g)) definedIn.set(name, file);
  const call = new RegExp(`\\b(${[...definedIn.keys()].join('|')})\\(`, 'g');
  for (const [file, found] of importsOf)
    for (const [, name] of textOf(file).matchAll(call)) found.add(definedIn.get(name));
  return importsOf;
}

/** An import through a library's index counts as an import of the files that declare the names. */
function importedBy(file, text) {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023);
  const found = new Set();
  for (const node of tree.statements) {
    if (!ts.isImportDeclaration(node) && !(ts.isExportDeclaration(node) && node.moduleSpecifier)) continue;
    const target = fileOf(node.moduleSpecifier.text, file);
    if (target === undefined) continue;
    const names = node.importClause?.namedBindings?.elements?.map(
      (each) => (each.propertyName ?? each.name).text,
    );
    const declaring =
      names && target.endsWith('/index.ts') ? names.map((name) => exportsOf(target).get(name)) : [];
    for (const each of declaring.length > 0 ? declaring : [target]) found.add(each ?? target);
  }
  found.delete(file);
  return found;
}

function fileOf(specifier, from) {
  const [, library] = /^#(\w+)$/.exec(specifier) ?? [];
  const file = library
    ? `libs/${library}/src/index.ts`
    : specifier.startsWith('.')
      ? path.join(path.dirname(from), specifier).replace(/\.js$/, '.ts')
      : undefined;
  return file !== undefined && file.endsWith('.ts') && existsSync(file) ? file : undefined;
}

const indexes = new Map();

/** The names that an index exports, with the files that they come from. */
function exportsOf(index) {
  const known = indexes.get(index);
  if (known) return known;
  const names = new Map();
  const tree = ts.createSourceFile(index, readFileSync(index, 'utf8'), ts.ScriptTarget.ES2023);
  for (const node of tree.statements) {
    if (!ts.isExportDeclaration(node) || !node.moduleSpecifier) continue;
    const file = fileOf(node.moduleSpecifier.text, index);
    for (const { name } of node.exportClause?.elements ?? []) if (file) names.set(name.text, file);
  }
  indexes.set(index, names);
  return names;
}

function distances(from, importsOf) {
  const found = new Map([[from, 0]]);
  // A Map visits entries that are added during the loop.
  for (const [file, distance] of found)
    for (const next of importsOf.get(file) ?? []) if (!found.has(next)) found.set(next, distance + 1);
  return found;
}

/**
 * Compares a text with the name and content of each file, by its rare words. `likeness` is the cosine of the two,
 * `naming` the share of the text's words that the file contains.
 */
function wordIndex(files) {
  const contents = new Map(files.map((file) => [file, wordsIn(`${file} ${readFileSync(file, 'utf8')}`)]));
  const counts = new Map();
  for (const words of contents.values())
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weight = (word) => (counts.has(word) ? Math.log(files.length / counts.get(word)) : 0);
  const sum = (words) => [...words].reduce((total, word) => total + weight(word) ** 2, 0);
  const sizes = new Map([...contents].map(([file, words]) => [file, Math.sqrt(sum(words))]));
  const shared = (words, file) => sum([...words].filter((word) => contents.get(file).has(word)));
  return {
    likeness: (text) => {
      const words = wordsIn(text);
      const size = Math.sqrt(sum(words)) || 1;
      return (file) => shared(words, file) / size / (sizes.get(file) || 1);
    },
    naming: (text) => {
      const words = wordsIn(text);
      const all = sum(words) || 1;
      return (file) => shared(words, file) / all;
    },
  };
}

/** Names as a whole, and their parts. */
const wordsIn = (text) =>
  new Set(
    (text.match(/[A-Za-z_]\w+/g) ?? [])
      .flatMap((name) => [name, ...name.split(/_|(?<=[a-z\d])(?=[A-Z])/)])
      .map((word) => word.toLowerCase())
      .filter((word) => word.length > 2),
  );
