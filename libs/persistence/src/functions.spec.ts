import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: '3c3263430d0964b2a3f7b600f165ed1c00d79daf821a8d4bbbd3ad5e0e277663',
  });
});
