import { describe, expect, it } from '@jest/globals';
import { loadCatalog, quote } from '#catalog';
import { reportedMicros } from '#providers';

const { models } = await loadCatalog();

function settled(id: string, input: object, json: object): { reserved: number; billed: number | undefined } {
  const model = models.find((each) => each.id === id);
  if (!model) throw new Error(`unknown model ${id}`);
  const { reported, upperMicros } = quote(model, { ...model.constants, ...input });
  const body = new TextEncoder().encode(JSON.stringify(json));
  return { reserved: upperMicros, billed: reportedMicros(reported, { status: 200, headers: {}, body }) };
}

const drawn = (images: number, text: number) => ({
  usageMetadata: {
    promptTokenCount: 8,
    candidatesTokensDetails: [
      { modality: 'IMAGE', tokenCount: images * 1120 },
      { modality: 'TEXT', tokenCount: text },
    ],
  },
});

describe('a reported cost is billed in full', () => {
  const messages = [{ role: 'user', content: 'Name three bridges.' }];
  const usage = { input_tokens: 1000, output_tokens: 200, cache_read_input_tokens: 400 };
  it.each([
    [undefined, 10_200],
    [null, 10_200],
    ['global', 10_200],
    ['us', 11_220],
    ['US', 11_220],
  ])('Claude that runs in %s', (inference_geo, micros) => {
    const input = { max_tokens: 256, messages, inference_geo };
    expect(settled('anthropic/claude-opus-5', input, { usage }).billed).toBe(micros);
  });

  it('Claude before Opus 4.6 has no inference_geo', () => {
    const input = { max_tokens: 256, messages, inference_geo: 'us' };
    expect(settled('anthropic/claude-sonnet-4-5-20250929', input, { usage }).billed).toBe(6120);
  });

  const drawing = { contents: [{ parts: [{ text: 'Draw four foxes' }] }] };
  it.each([
    ['one image and 30,000 tokens of text', drawn(1, 30_000), 494_416],
    ['four images', drawn(4, 0), 537_616],
  ])('Gemini 3 Pro Image: %s', (_, reply, micros) => {
    const { reserved, billed } = settled('vertexai/gemini-3-pro-image', drawing, reply);
    expect(billed).toBe(micros);
    expect(reserved).toBeGreaterThanOrEqual(micros);
  });

  it('an image reserves no more than its limits of text and images allow', () => {
    const reserved = [
      'gemini-3-pro-image',
      'gemini-3.1-flash-image',
      'gemini-3.1-flash-lite-image',
      'gemini-nano-banana-2.1',
    ].map((name) => settled(`vertexai/${name}`, drawing, {}).reserved / 1_000_000);
    expect(Math.max(...reserved)).toBeLessThan(1);
    expect(reserved.map((usd) => Number(usd.toFixed(2)))).toEqual([0.93, 0.37, 0.14, 0.38]);
  });
});
