import { describe, expect, it } from '@jest/globals';
import { essenceOf, isJsonType } from './media-type.js';

describe('the media type of a Content-Type', () => {
  it.each([
    ['application/json', 'application/json'],
    ['Application/JSON', 'application/json'],
    [' application/json ; charset=utf-8', 'application/json'],
    ['application/json\t;charset="a;b,c"', 'application/json'],
    ['image/svg+xml;', 'image/svg+xml'],
    ['text/plain; =broken', 'text/plain'],
  ])('%j is %s', (contentType, essence) => {
    expect(essenceOf(contentType)).toBe(essence);
  });

  it.each([undefined, '', 'binary', 'text /plain', 'text/', '/json', 'text/plain text/html', 'a/b, c/d'])(
    '%j is not a media type',
    (contentType) => {
      expect(essenceOf(contentType)).toBe('');
    },
  );

  it.each(['application/json', 'TEXT/JSON ;x=y', 'application/problem+json', 'model/gltf+JSON; v=2'])(
    '%s is JSON',
    (contentType) => {
      expect(isJsonType(contentType)).toBe(true);
    },
  );

  it.each(['application/json-seq', 'application/jsonl', 'text/plain; x=application/json', 'json'])(
    '%s is not JSON',
    (contentType) => {
      expect(isJsonType(contentType)).toBe(false);
    },
  );
});
