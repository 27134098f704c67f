import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 5,
    digest: '82175cc98dbf23d37017cb97055305bea27e1e9d15a315983ac1b4a2cfdf57f1',
  });
});
