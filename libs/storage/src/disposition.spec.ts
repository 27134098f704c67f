import { describe, expect, it } from '@jest/globals';
import { dispositionOf } from './disposition.js';

describe('a stored object', () => {
  it.each([
    'image/png',
    'IMAGE/JPEG',
    'video/mp4; codecs="avc1"',
    'audio/mpeg',
    'model/gltf-binary',
    'font/woff2',
  ])('of %s is shown inline', (mediaType) => {
    expect(dispositionOf(mediaType)).toBe('inline');
  });

  it.each([
    'text/html',
    'image/svg+xml',
    'Image/SVG+XML; charset=utf-8',
    'image/svg',
    'model/x3d+xml',
    'application/xhtml+xml',
    'text/xml',
    'text/plain',
    'application/json',
    'application/javascript',
    'application/octet-stream',
    'application/pdf',
    'image/png, text/html',
    'image/png; a=b, text/html',
    'multipart/x-mixed-replace',
    'image',
    '',
  ])('of %j is downloaded', (mediaType) => {
    expect(dispositionOf(mediaType)).toBe('attachment');
  });
});
