// The sample of mutants. A mutant is identified by its file, its line's text and its change, so that the sample of a
// seed stays the same while other lines change.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { placesIn } from './places.mjs';

/** How many of fifty mutants each area gets: in proportion to its places, but at least eight. */
const areas = [
  { folder: 'libs/persistence', share: 22 },
  { folder: 'libs/catalog', share: 12 },
  { folder: 'apps/gateway/src/runs', share: 8 },
  { folder: 'apps/worker/src/runs', share: 8 },
];

/** At most this many mutants are drawn from a file. */
const maxPerFile = 2;

// Settings are listed with their defaults, and an index and a test's tools have no behaviour of their own.
const isLeftOut = /\.spec\.ts$|\/testing\/|\/index\.ts$|settings\.ts$/;

/** Each mutant with a reason why no test can notice it. */
const equivalent = JSON.parse(readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'));

/**
 * Each area's mutants. The sample is the first `share` of `sample`, or the next ones for those that are not valid
 * programs.
 */
export const mutantsByArea = (seed) =>
  areas.map(({ folder, share }) => {
    const all = mutantsOf(folder);
    return { share, all, sample: spread(all, seed) };
  });

const mutantsOf = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !isLeftOut.test(`/${name}`))
    .map((name) => `${folder}/${name.replaceAll(path.sep, '/')}`)
    .flatMap((file) => {
      const source = readFileSync(file, 'utf8');
      const seen = new Map();
      return placesIn(file, source).map((place) => describe(file, source, place, seen));
    });

function describe(file, source, { start, end, text, near }, seen) {
  const from = source.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = source.indexOf('\n', end);
  const line = source.slice(from, lineEnd === -1 ? undefined : lineEnd);
  const before = line.trim();
  const column = start - from - (line.length - line.trimStart().length);
  const after = before.slice(0, column) + text + before.slice(column + end - start);
  // Equal lines of a file are told apart by their order.
  const nth = (seen.get(`${before}\n${after}`) ?? 0) + 1;
  seen.set(`${before}\n${after}`, nth);
  const id = `${path.basename(file, '.ts')}-${digest([file, before, after, nth]).slice(0, 8)}`;
  const lineNumber = source.slice(0, start).split('\n').length;
  const passage = source
    .split('\n')
    .slice(Math.max(0, lineNumber - 8), lineNumber + 7)
    .join('\n');
  return { id, file, line: lineNumber, before, after, start, end, text, near, passage };
}

/** In an order that depends on the seed and the mutants alone, with one mutant per function or statement. */
function spread(mutants, seed) {
  const taken = new Set();
  const perFile = new Map();
  return mutants
    .filter(({ id }) => !Object.hasOwn(equivalent, id))
    .map((mutant) => ({ mutant, rank: digest([seed, mutant.id]) }))
    .sort((left, right) => (left.rank < right.rank ? -1 : 1))
    .map(({ mutant }) => mutant)
    .filter(({ file, near }) => {
      const count = perFile.get(file) ?? 0;
      if (count === maxPerFile || taken.has(`${file} ${near}`)) return false;
      taken.add(`${file} ${near}`);
      perFile.set(file, count + 1);
      return true;
    });
}

const digest = (parts) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');
