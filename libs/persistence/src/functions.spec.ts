import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: 'fe0ebede5d9224d9c62ba6a298f47c314dcc25feab6faaa1bd14340a88cf1eb8',
  });
});
