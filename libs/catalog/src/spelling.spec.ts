import { beforeAll, describe, expect, it } from '@jest/globals';
import { InputRejection } from '#errors';
import { checkInput, inputErrors } from './check-input.js';
import { loadCatalog } from './load-catalog.js';
import type { Model } from './model.js';
import { quote } from './quote.js';
import { parsedInput } from './testing/parsed-input.js';

const file = { file_data: { file_uri: 'gs://bucket/film.mp4', mime_type: 'video/mp4' } };

let models: readonly Model[];

function modelOf(id: string): Model {
  const found = models.find((each) => each.id === id);
  if (!found) throw new Error(`there is no ${id}`);
  return found;
}

function refused(id: string, body: Record<string, unknown>): string[] {
  try {
    checkInput([modelOf(id)], parsedInput(body));
    return [];
  } catch (error) {
    if (!(error instanceof InputRejection)) throw error;
    return error.fields.map(({ loc, type }) => `${loc.slice(1).join('.')} ${type}`);
  }
}

describe('a provider that accepts each field in snake case and in camel case', () => {
  beforeAll(async () => ({ models } = await loadCatalog()));
  it.each([
    [
      'vertexai/gemini-2.5-flash',
      { contents: [{ parts: [file] }], generation_config: { max_output_tokens: 64, candidate_count: 4 } },
      {
        contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/film.mp4', mimeType: 'video/mp4' } }] }],
        generationConfig: { maxOutputTokens: 64, candidateCount: 4 },
      },
    ],
    [
      'vertexai/gemini-2.5-flash',
      { contents: [{ parts: [{ text: 'a' }] }], cached_content: 'cachedContents/1' },
      { contents: [{ parts: [{ text: 'a' }] }], cachedContent: 'cachedContents/1' },
    ],
    [
      'vertexai/gemini-3-pro-image',
      { contents: [{ parts: [{ text: 'a' }] }], generation_config: { image_config: { image_size: '4K' } } },
      { contents: [{ parts: [{ text: 'a' }] }], generationConfig: { imageConfig: { imageSize: '4K' } } },
    ],
    [
      'veo/veo-3.1-generate-001',
      {
        instances: [{ prompt: 'a' }],
        parameters: { sample_count: 4, duration_seconds: 4, generate_audio: false },
      },
      {
        instances: [{ prompt: 'a' }],
        parameters: { sampleCount: 4, durationSeconds: 4, generateAudio: false },
      },
    ],
    [
      'gemini-interactions/gemini-omni-1.1-flash',
      { input: 'a', generationConfig: { maxOutputTokens: 64 } },
      { input: 'a', generation_config: { max_output_tokens: 64 } },
    ],
  ])('costs the same in both: %s', (id, one, other) => {
    const model = modelOf(id);
    expect(inputErrors(model, one)).toEqual([]);
    const { upperMicros, computedMicros } = quote(model, one);
    const expected = quote(model, other);
    expect(upperMicros).toBe(expected.upperMicros);
    expect(computedMicros).toBeCloseTo(expected.computedMicros, -3);
  });

  it('rejects both, and reports the name that the caller used', () => {
    const contents = [{ parts: [{ text: 'a' }] }];
    expect(
      refused('vertexai/gemini-2.5-flash', { contents, generation_config: { candidate_count: 0 } }),
    ).toEqual(['generation_config.candidate_count greater_than_equal']);
    expect(
      refused('vertexai/gemini-2.5-flash', {
        contents,
        generationConfig: { candidateCount: 1, candidate_count: 8 },
      }),
    ).toEqual(['generationConfig.candidate_count value_error']);
    expect(
      refused('veo/veo-3.1-generate-001', {
        instances: [{ prompt: 'a' }],
        parameters: { storage_uri: 'gs://elsewhere' },
      }),
    ).toEqual(['parameters.storage_uri extra_forbidden']);
  });
});
