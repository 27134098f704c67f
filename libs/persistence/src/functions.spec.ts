import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 3,
    digest: '37ef092828a8ffec13dceed43c0a104aab1fcf7134a3d48c0ea860adfe78831e',
  });
});
