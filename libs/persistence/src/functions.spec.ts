import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 13,
    digest: '8f8a2ed65ab4b01427824072037bafa6e24b75f78e644e539f04d9bbbb7076ed',
  });
});
