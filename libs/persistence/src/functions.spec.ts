import { expect, it } from '@jest/globals';
import { functionsDigest, functionsRevision } from './functions.js';

it('a changed function needs a new revision, by which migrate tells newer functions from older ones', () => {
  expect({ revision: functionsRevision, digest: functionsDigest }).toEqual({
    revision: 7,
    digest: 'f3040faaf369226d929ee51dc232d76c286d67053b96b4da905b7665b055b214',
  });
});
