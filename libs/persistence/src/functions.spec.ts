import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a change of a function raises the revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 2,
    digest: '9c73b524a36f3b601da824a91627bcb46b16ac5e96a07aea16328d52c553ecf4',
  });
});
