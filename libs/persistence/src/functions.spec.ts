import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 2,
    digest: 'd5926ef9fd11c481e4afa77513ac7732806ab6b97a1f1cc8fa3c5d6df5e667b0',
  });
});
