import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 5,
    digest: '9d31e956380b2d5af077dbb333c01f3574f0e59e551efbf7e6a26a25817cd0c8',
  });
});
