import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 2,
    digest: '9b82ffcb8234abbb29d67bfa997e7fc0b97ea76cc56adf447d60cbbb05d7d977',
  });
});
