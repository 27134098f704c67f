import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 1,
    digest: '22d7ba7c9fa2dbd39b9d8695a8bad6660d0c1b2d8fbd5bd8b976c5d34a092c12',
  });
});
