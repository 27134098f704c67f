import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 10,
    digest: '98d3925aa14ce5b19e8a320c0db900d21d043fa210554b15f6f6c67532b0f0ae',
  });
});
