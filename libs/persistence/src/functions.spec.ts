import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: 'decf26fe256a491a6e856a6525c5aa7bf4f6e06ccbe68904497004fe3e60ccdd',
  });
});
