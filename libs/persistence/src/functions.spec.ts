import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 2,
    digest: 'ee819f202b16d25c9dd1b6b73e7d793187371503c2fc2b26337678565ef926f6',
  });
});
