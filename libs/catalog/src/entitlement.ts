import { LRUCache } from 'lru-cache';
import picomatch from 'picomatch';

// A negated glob would turn an allow-list into a deny-list, so it is taken literally and matches nothing.
const matchers = new LRUCache<string, (id: string) => boolean>({
  max: 1000,
  memoMethod: (glob) => {
    if (glob === '') return () => false;
    // A shortcut, because most workspaces have this glob and every model of a list is matched.
    if (glob === '*' || glob === '**') return () => true;
    return picomatch(glob, { nonegate: true });
  },
});

/**
 * Whether one of the globs matches the id. A star matches within its segment (`bfl/*`, `fal/flux-*`); `**`, and `*`
 * alone, match every id. An empty list matches none.
 */
export const mayMatch = (globs: readonly string[], id: string): boolean =>
  globs.some((glob) => matchers.memo(glob)(id));
