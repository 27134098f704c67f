import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: '5f4344e6d33d37cd5db5b9cd4cf986ac91bb5cf6e77f4490004bb53a0e9948cd',
  });
});
