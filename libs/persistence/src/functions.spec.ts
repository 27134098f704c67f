import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 3,
    digest: '833ee28d2dc18b8e38dec5825602b3d3697a404258ca642eb20c32a64bb129b5',
  });
});
