import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 1,
    digest: '786fd080688c092e0255020f478e525936e3db8f5f1e4b108eabb80b7ab3fb23',
  });
});
