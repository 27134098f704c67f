import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 5,
    digest: '88952f279a64693addc0612e79d209741b2052e826a139d8ff126bb0b8de07da',
  });
});
