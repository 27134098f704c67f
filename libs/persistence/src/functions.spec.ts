import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 6,
    digest: '7e6ccf5920aa76c9e418e4e650542c70a8a0e11b582ef4da655af2e0430884a8',
  });
});
