import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 3,
    digest: 'a0bc7ebd9a3ef01e0d7ad3c193cd8ba4d2f3e6b2ee0f0c05f87a620a480dd6be',
  });
});
