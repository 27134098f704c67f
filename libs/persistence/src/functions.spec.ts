import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: 'f12618109a01144a9eaedb2a23a7cfcf6eb399e08168748c08ecc906f547e2e9',
  });
});
