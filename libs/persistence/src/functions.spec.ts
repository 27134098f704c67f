import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 4,
    digest: 'ea3a26b93b43fc5c6f3f758955f3fd40ddf6c06a6abbbf0145f5a47002abc4c5',
  });
});
