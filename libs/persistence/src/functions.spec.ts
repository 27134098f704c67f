import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 3,
    digest: '3ef92729c68fb0f88a31ae2f2139f6fe872ded0c075f5026611d8ea9f289cdeb',
  });
});
