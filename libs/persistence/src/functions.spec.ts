import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 4,
    digest: '2b0e534942199192e6a766c4180fa1c3bf4957e8aa551eaa7efd1e8041e8872c',
  });
});
