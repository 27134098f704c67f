import picomatch from 'picomatch';

const matchers = new Map<string, (id: string) => boolean>();
const mostMatchers = 1000;

/**
 * Whether one of the globs covers the id. A star stays within its segment (`bfl/*`, `fal/flux-*`); `**`, and
 * `*` alone, cover every id. An empty list covers none.
 */
export const mayMatch = (globs: readonly string[], id: string): boolean =>
  globs.some((glob) => matcherOf(glob)(id));

function matcherOf(glob: string): (id: string) => boolean {
  const known = matchers.get(glob);
  if (known !== undefined) return known;
  // A negated glob would turn an allow-list into "everything but": it is taken literally and covers nothing.
  const matcher = glob === '' ? () => false : picomatch(glob === '*' ? '**' : glob, { nonegate: true });
  // Globs come out of the database; dropping all at a bound is enough to keep a long-lived process small.
  if (matchers.size >= mostMatchers) matchers.clear();
  matchers.set(glob, matcher);
  return matcher;
}
