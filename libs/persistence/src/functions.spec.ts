import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 10,
    digest: '487f2dc1b1a1c6dfa7b4ec267763b980eec96f325ccf347854920b421241696f',
  });
});
