import { describe, expect, it } from '@jest/globals';
import { camelName, spellingsOf } from './spelling.js';

describe('camelName', () => {
  it.each([
    ['file_data', 'fileData'],
    ['fileData', 'fileData'],
    ['bytes_base64_encoded', 'bytesBase64Encoded'],
    ['n', 'n'],
    ['_', ''],
  ])('of %s is %s', (name, camel) => expect(camelName(name)).toBe(camel));
});

describe('spellingsOf', () => {
  it('lists every combination of both spellings', () => {
    expect(spellingsOf('/contents/*/inlineData/mime_type')).toEqual([
      '/contents/*/inlineData/mime_type',
      '/contents/*/inlineData/mimeType',
      '/contents/*/inline_data/mime_type',
      '/contents/*/inline_data/mimeType',
    ]);
  });
});
