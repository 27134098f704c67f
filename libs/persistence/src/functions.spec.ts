import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: 'f29453eaf25eafe463b8db433f1e4eeb918f11ceb60318c3907385df3dfcf782',
  });
});
