import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 10,
    digest: '0abc082d86f1651ab87deff389428562836bdf3012b4e7e3b3a6d1842c5d293d',
  });
});
