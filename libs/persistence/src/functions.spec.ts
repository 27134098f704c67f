import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 6,
    digest: '8ba31f482df5fa96e844b6f120be0994f6e66e557846ca611e9abd153845600b',
  });
});
