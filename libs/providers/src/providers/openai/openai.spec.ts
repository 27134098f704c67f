import { describe, expect, it } from '@jest/globals';

import type { Run } from '../../contract.js';
import { providerOf } from '../../testing/provider-of.js';

const images = { path: 'images/generations', edits: 'images/edits' };

// The body of an edit: github.com/openai/openai-openapi, schema EditImageBodyJsonParam, 2026-11-23.
describe('a model that generates and edits images', () => {
  const openai = providerOf('openai');
  const adapter = openai.create(openai.defaultBase, {});
  const sent = (body: string, upstream: Run['upstream'] = images) => {
    const run = { runId: 'r', model: 'openai/m', upstream, body: new TextEncoder().encode(body) };
    const call = adapter.submit(run);
    return [call.url.replace(openai.defaultBase, ''), Buffer.from(call.body ?? []).toString()];
  };

  it('generates without an image', () => {
    expect(sent('{"prompt" : "a cat"}')).toEqual(['/images/generations', '{"prompt" : "a cat"}']);
  });

  it.each([
    ['"https://a.example/x.png"', '[{"image_url":"https://a.example/x.png"}]'],
    ['["data:image/png;base64,AA==","u"]', '[{"image_url":"data:image/png;base64,AA=="},{"image_url":"u"}]'],
  ])('edits image %s', (image, images) => {
    expect(
      sent(`{"model":"m","prompt":"a hat","image":${image},"mask":"data:image/png;base64,AA=="}`),
    ).toEqual([
      '/images/edits',
      `{"model":"m","prompt":"a hat","images":${images},"mask":{"image_url":"data:image/png;base64,AA=="}}`,
    ]);
  });

  it('edits without a stream', () => {
    expect(sent('{"stream":true,"image":[]}')).toEqual(['/images/edits', '{"stream":false,"images":[]}']);
  });

  it('forwards the provider’s own format unchanged', () => {
    const own = '{"prompt":"a hat","images":[{"file_id":"f"}]}';
    expect(sent(own)).toEqual(['/images/edits', own]);
  });

  it('generates speech, whatever else is in the input', () => {
    expect(sent('{"input":"hello","image":"u"}', { path: 'audio/speech' })[0]).toBe('/audio/speech');
  });
});
