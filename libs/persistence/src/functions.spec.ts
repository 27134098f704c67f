import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 3,
    digest: '6c5c499b88f6b6cfbeca1438db9ecab7f4f7a12d6dbf967c7fc4722112bf769a',
  });
});
