import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 4,
    digest: '63b252ca8f092c15bd6839133b37a9b3ba18261db8f370423fca86fbecb16db3',
  });
});
