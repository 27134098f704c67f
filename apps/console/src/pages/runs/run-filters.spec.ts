import { describe, expect, it } from '@jest/globals';
import { usageSearch } from '../usage/search.ts';
import { runQueryOf } from './run-filters.ts';
import { runsSearch } from './search.ts';

describe('the filters of the runs in an address', () => {
  it('become the parameters of the list', () => {
    const search = runsSearch({ tag: 'project=alpha', user: 'u', state: 'failed', other: 'x', key: '' });
    expect(runQueryOf(search, 0)).toEqual({ outcome: 'failed', tag: 'project=alpha', user: 'u' });
  });
});

describe('the grouping of usage in an address', () => {
  it.each(['key', 'day', 'user', 'tag:a.b-c_1'])('can be %s', (by) => {
    expect(usageSearch({ by })).toEqual({ by });
  });

  it.each(['model', 'tag:', 'tag:A', 'tags'])('is the default for %s', (by) => {
    expect(usageSearch({ by })).toEqual({});
  });
});
