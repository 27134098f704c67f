import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 1,
    digest: '500ef688a103bd2f67e5bc99551d947a43bb9bcfb2bfcc7e4897d09b5d5b2f3f',
  });
});
