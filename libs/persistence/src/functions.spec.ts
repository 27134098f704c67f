import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: '666313fc8ae03995f87cb6b2d83ebb4c276740b66c008ea62cb9d51ac0327737',
  });
});
