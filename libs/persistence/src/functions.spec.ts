import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 1,
    digest: 'e3eef43dbefef0c14c79fbc362223f802f894ebcf3583008d6adcad53c2045c2',
  });
});
