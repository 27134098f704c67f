import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 12,
    digest: '8857e131fa0858b82188b717022238d6f209bd5a20e18408bc784801929b032b',
  });
});
