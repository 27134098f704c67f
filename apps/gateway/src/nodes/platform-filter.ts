import type { NodeFacet } from '#persistence';
import semver from 'semver';
import type { NodeQuery } from './node-query.js';

const anySystem = 'OS Independent';
const options = { loose: true, includePrerelease: true };

/** Whether a node runs on the caller's platform; undefined when the query does not restrict it. */
export function platformFilter({
  supported_os,
  form_factor,
  supported_accelerator,
  app_version,
}: NodeQuery): ((facet: NodeFacet) => boolean) | undefined {
  if ((supported_os ?? form_factor ?? supported_accelerator ?? app_version) === undefined) return undefined;
  // Many facets have the same range, and parsing one is slow.
  const ranges = new Map<string, boolean>();
  const inRange = (range: string, version: string): boolean => {
    const contained = ranges.get(range) ?? contains(range, version);
    ranges.set(range, contained);
    return contained;
  };
  return ({ supportedOs, supportedAccelerators, supportedAppVersion: range }) =>
    covers(supportedOs, supported_os, anySystem) &&
    covers(supportedOs, form_factor, anySystem) &&
    covers(supportedAccelerators, supported_accelerator) &&
    (range === null || app_version === undefined || inRange(range, app_version));
}

/**
 * A list covers a value if it is empty, or contains the value, an ancestor of it (`A` of `A :: B`) or the wildcard.
 */
const covers = (listed: readonly string[], value: string | undefined, wildcard?: string): boolean =>
  value === undefined ||
  listed.length === 0 ||
  listed.some((each) => each === value || each === wildcard || value.startsWith(`${each} :: `));

/**
 * Whether the range contains the version. Ranges are written as in npm or as in Python's packages (`>=1.0,<2.0`,
 * `~=1.4`, `!=1.5`). A range that is empty or cannot be parsed contains every version; other ranges contain no
 * version that cannot be parsed.
 */
export function contains(range: string, version: string): boolean {
  if (range.trim() === '') return true;
  let alternatives: RangeTest[];
  try {
    alternatives = range.split('||').map(readConjunction);
  } catch {
    return true;
  }
  const read = readVersion(version);
  return read !== null && alternatives.some((test) => test(read));
}

type RangeTest = (version: semver.SemVer) => boolean;

const isException = (term: string): boolean => /^(!=|<>)/.test(term);

/** Throws for a text that is not a range. */
function readConjunction(text: string): RangeTest {
  const terms = text.replaceAll(/(~=|===?|!=|<>)\s*/g, '$1').split(/[\s,]+/);
  const rest = terms.filter((term) => !isException(term)).map(npmTerm);
  const within = new semver.Range(rest.join(' '), options);
  const without = terms.filter(isException).map((term) => new semver.Range(term.slice(2), options));
  return (version) => within.test(version) && !without.some((exception) => exception.test(version));
}

/** `~=1.4.2` is at least 1.4.2 and below 1.5: everything but the last part is kept. */
function npmTerm(term: string): string {
  if (!term.startsWith('~=')) return term.replace(/^={2,3}/, '=');
  const version = term.slice(2);
  const kept = version.replace(/\.[^.]*$/, '');
  return `>=${version} ${kept}.x`;
}

/** A version with missing or extra parts is coerced to three parts. */
const readVersion = (text: string): semver.SemVer | null =>
  semver.parse(text, options) ?? (/^[vV]?\d/.test(text) ? semver.coerce(text) : null);
