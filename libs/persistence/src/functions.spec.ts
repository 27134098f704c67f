import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 9,
    digest: '1d8dadc1480293b3c968ade293a263cc84871d3305715319704565ee1f6c4c6e',
  });
});
