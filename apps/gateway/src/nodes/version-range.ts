import semver from 'semver';

const options = { loose: true, includePrerelease: true };

/**
 * Whether the range contains the version. Ranges are written as in npm or as in Python's packages
 * (`>=1.0,<2.0`, `~=1.4`, `!=1.5`). A range that is empty or cannot be read demands nothing; a version that
 * cannot be read is in no range.
 */
export function contains(range: string, version: string): boolean {
  const alternatives = range.split('||').map(readConjunction);
  if (range.trim() === '' || alternatives.includes(null)) return true;
  const read = readVersion(version);
  if (read === null) return false;
  return alternatives.some(
    (each) =>
      each !== null && each.within.test(read) && !each.without.some((exception) => exception.test(read)),
  );
}

interface Conjunction {
  within: semver.Range;
  without: semver.Range[];
}

function readConjunction(text: string): Conjunction | null {
  const terms = text.replaceAll(/(~=|===?|!=|<>)\s*/g, '$1').split(/[\s,]+/);
  const exceptions = terms.filter((term) => /^(!=|<>)/.test(term)).map((term) => term.slice(2));
  const rest = terms.filter((term) => !/^(!=|<>)/.test(term)).map(npmTerm);
  try {
    return {
      within: new semver.Range(rest.join(' '), options),
      without: exceptions.map((exception) => new semver.Range(exception, options)),
    };
  } catch {
    return null;
  }
}

/** `~=1.4.2` is at least 1.4.2 and below 1.5: everything but the last part is kept. */
function npmTerm(term: string): string {
  if (!term.startsWith('~=')) return term.replace(/^={2,3}/, '=');
  const version = term.slice(2);
  const kept = version.replace(/\.[^.]*$/, '');
  return `>=${version} ${kept}.x`;
}

/** A version with parts left out or with more than three counts by the parts that count. */
const readVersion = (text: string): semver.SemVer | null =>
  semver.parse(text, options) ?? (/^[vV]?\d/.test(text) ? semver.coerce(text) : null);
