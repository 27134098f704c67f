import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 10,
    digest: 'd7d0014dfc080dc9f5cb9c63db39b1a486637525a9d913ca5f7b26ff29033dad',
  });
});
