import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: '4938d3c4e55dd7ea61937c543251d3e725c12ce2cd0dfbcfd39b0d9f6b146a59',
  });
});
