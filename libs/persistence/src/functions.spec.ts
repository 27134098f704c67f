import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 2,
    digest: '47d821838a9487bc78323450f127af047414a772994f65897a3595e7af8d6adf',
  });
});
