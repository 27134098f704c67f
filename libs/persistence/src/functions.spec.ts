import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 6,
    digest: '3551d1c60aab9484be0e4130f5a89ba2086c627cd68249adc18d9005e6a0ed60',
  });
});
