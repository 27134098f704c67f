import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 6,
    digest: '8fc0c457cb15593c110165012d286639c33e342ed7d1702a0f9d0a0b95bf8468',
  });
});
