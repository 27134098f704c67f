import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 9,
    digest: 'b173be3c7d1b44ea26ebc8c9a57069f624c5b639c4f2d08651331e067955235a',
  });
});
