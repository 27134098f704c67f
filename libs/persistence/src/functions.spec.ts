import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 13,
    digest: 'e91d7842334ea10ae2a38718fc0f98bb262e81ef9a3b72bec87d7fef6969b617',
  });
});
