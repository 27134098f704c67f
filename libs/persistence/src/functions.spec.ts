import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 4,
    digest: '1872888808b5d5fbccba1438ab1e9be260b44a207cff8a3a4a8342d90c1e22a6',
  });
});
