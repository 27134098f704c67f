import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 2,
    digest: 'ae06bbe03f9b913cef81d459dc1e9478f45bf73ffc592adff31e7ae00c7791eb',
  });
});
