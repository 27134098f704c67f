import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 1,
    digest: '4bac91fb5dde27ff0c06c5b610b806b4e9c569b50fa18a164cc7016409323d60',
  });
});
