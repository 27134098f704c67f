import { describe, expect, it } from '@jest/globals';
import { imageIn, maskTermsOf } from './mask.ts';

describe('maskTermsOf', () => {
  it.each([
    ['mask', 'Black and white image of the same size, as base64 or a URL. White areas are removed.', 'white'],
    ['mask_url', 'Mask, as a URL or base64. White areas may change.', 'white'],
    ['mask', 'Mask of the same size. Black areas are edited, white areas stay.', 'black'],
    ['maskImage', 'A PNG, as a URL or data URI. Transparent areas are edited.', 'transparent'],
    ['mask_image_url', 'URL of a mask.', undefined],
  ])('reads the meaning of %s: %s', (name, description, meaning) =>
    expect(maskTermsOf(name, { description })).toEqual({ meaning }),
  );

  it.each([
    ['mask_type', 'Source of the mask.'],
    ['mask', 'Mask, as the URL of an image or video. White areas are edited.'],
    ['image', 'Image to edit.'],
  ])('does not offer to paint %s: %s', (name, description) =>
    expect(maskTermsOf(name, { description })).toBeUndefined(),
  );
});

it('finds the image of an input, and not its mask or another file', () => {
  const [image, other] = ['https://router.example/assets/files/1', 'https://router.example/assets/files/2'];
  expect(imageIn({ prompt: 'x', mask: other, image })).toBe(image);
  expect(imageIn({ input: { image_urls: [image, other] } })).toBe(image);
  expect(imageIn({ video_url: other, file: 'https://router.example/a.png' })).toBe(
    'https://router.example/a.png',
  );
  expect(
    imageIn({ prompt: 'https://router.example/page', video: `${other}.mp4`, mask: image }),
  ).toBeUndefined();
});
