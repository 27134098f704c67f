import { LRUCache } from 'lru-cache';
import picomatch from 'picomatch';

// A negated glob would turn an allow-list into "everything but": it is taken literally and covers nothing.
const matchers = new LRUCache<string, (id: string) => boolean>({
  max: 1000,
  memoMethod: (glob) => {
    if (glob === '') return () => false;
    // Most workspaces have this glob, and every model of a list is matched with it.
    if (glob === '*' || glob === '**') return () => true;
    return picomatch(glob, { nonegate: true });
  },
});

/**
 * Whether one of the globs covers the id. A star stays within its segment (`bfl/*`, `fal/flux-*`); `**`, and
 * `*` by itself, cover every id. An empty list covers none.
 */
export const mayMatch = (globs: readonly string[], id: string): boolean =>
  globs.some((glob) => matchers.memo(glob)(id));
