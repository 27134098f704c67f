import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 11,
    digest: 'b0a31006411eebaa3d95688d6daa5d0e0e7819da22457db42e1af103c64dc9b6',
  });
});
