import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 2,
    digest: 'c993854f88d75c3070df873a10795f3e941101f141d5df25fca326c4b554b93e',
  });
});
