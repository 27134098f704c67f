import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 9,
    digest: '79ef12577d33f15502c3271388abf7a1fafc4a41aed511db95096e6258599db7',
  });
});
