import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 8,
    digest: '3da1a3a47c28291e445ca14f8a5d37e82f69f3f4073a49464d4706363a12183f',
  });
});
