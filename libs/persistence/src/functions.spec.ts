import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 4,
    digest: '1ba2c5a2ed3dabd8d5195975b7120931236eee646eed6b1bf11d82020d37f39f',
  });
});
