import { describe, expect, it } from '@jest/globals';
import { base64Bytes, inlineFile } from './inline-file.js';

const read = (url: string) => {
  const file = inlineFile(url);
  return file && [file.mediaType, Buffer.from(file.content as Uint8Array).toString('latin1'), file.bytes];
};

describe('a data: URL', () => {
  it.each([
    ['data:image/png;base64,aGk=', 'image/png', 'hi'],
    ['DATA:Image/PNG;BASE64,aGk=', 'image/png', 'hi'],
    ['data:image/png;base64,aGk', 'image/png', 'hi'],
    ['data:image/png;base64,%61Gk%3D', 'image/png', 'hi'],
    ['data:image/png;base64,aG\n k=', 'image/png', 'hi'],
    ['data:image/png;base64,-_-_', 'image/png', '\xfb\xff\xbf'],
    ['data:text/plain;name="a,b";base64,aGk=', 'text/plain', 'hi'],
    ['data:text/plain;name="a\\",b",hi', 'text/plain', 'hi'],
    ['data:text/plain;charset=utf-8 ; base64,aGk=', 'text/plain', 'hi'],
    ['data:image/svg+xml,%3Csvg%20a=%2250%%22/%3E', 'image/svg+xml', '<svg a="50%"/>'],
    ['data:application/octet-stream,%00%FF', 'application/octet-stream', '\0\xff'],
    ['data:,a,b', 'text/plain', 'a,b'],
    ['data:;charset=utf-8,a', 'text/plain', 'a'],
    ['data:;base64,aGk=', 'application/octet-stream', 'hi'],
  ])('%j holds %s', (url, mediaType, content) => {
    expect(read(url)).toEqual([mediaType, content, content.length]);
  });

  it.each([
    'https://example.com/a.png',
    'aGk=',
    'data:image/png;base64',
    'data:image/png;base64,',
    'data:image/png;base64,*',
    'data:image/png;base64,aGk=k',
    'data:image/png;base64,aGk%',
    'data:image/png,',
    'data:image;base64,aGk=',
    'data:text/plain;x="a,b',
    `data:text/plain;x=${'a'.repeat(2000)},hi`,
  ])('%j is not a file', (url) => {
    expect(inlineFile(url)).toBeUndefined();
  });
});

it.each(['', 'a', 'A=', 'A==', 'AAAAA=', 'a b c!', '====', 'not base64.'])('%j is not base64', (text) => {
  expect(base64Bytes(text)).toBeUndefined();
});
