import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: '488fbc5cb13ae45d2bdbf8cd44d07e525d4bade043dbaca703bd96cc8a82c1f6',
  });
});
