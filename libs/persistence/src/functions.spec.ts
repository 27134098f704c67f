import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: '58b8b56f4a5e98ecab3c1ee3d36ec9d77ea4290e9b237f686cf19d62255c51c8',
  });
});
