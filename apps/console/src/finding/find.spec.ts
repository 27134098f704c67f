import { describe, expect, it } from '@jest/globals';
import type { ModelEntry } from '../api/models.ts';
import { searchable, searched } from './find.ts';
import { type Sort, sorts } from '../pages/models/search.ts';
import { found, listed } from '../pages/models/selection.ts';

interface Facts extends Pick<ModelEntry, 'added' | 'measured'> {
  description: string;
  usd: number;
  unit: string;
}

const model = (
  id: string,
  title: string,
  [inputs, outputs]: [string, string],
  tasks: string[],
  { description = 'Generates.', usd = 1, unit = 'run', ...facts }: Partial<Facts> = {},
) =>
  ({
    id,
    provider: id.split('/')[0],
    model: id.split('/')[1],
    title,
    description,
    aliases: [],
    input_modalities: inputs.split('+'),
    output_modalities: outputs.split('+'),
    tasks,
    price: { from_usd: usd, unit, text: '' },
    ...facts,
  }) as unknown as ModelEntry;

const models = [
  model('bfl/flux-kontext-pro', 'FLUX.1 Kontext Pro', ['image+text', 'image'], ['edit'], {
    usd: 0.04,
    added: '2026-11-21',
    measured: { median_seconds: 9, success_share: 0.9, runs: 90, days: 7 },
  }),
  model('bfl/flux-2-pro', 'FLUX.2 Pro', ['text+image', 'image'], ['text-to-image', 'edit'], {
    usd: 0.03,
    added: '2026-11-27',
    measured: { median_seconds: 12, success_share: 1, runs: 4000, days: 7 },
  }),
  model('kling/videos-lip-sync', 'Kling Lip Sync', ['video+audio+text', 'video'], ['lip-sync'], {
    usd: 0.07,
    unit: 'duration',
  }),
  model('openai/tts-1', 'TTS 1', ['text', 'audio'], ['speech'], {
    usd: 0.000015,
    unit: 'characters of input',
  }),
  model('elevenlabs/music', 'Eleven Music', ['text', 'audio'], ['music']),
  model('openai/whisper-1', 'Whisper', ['audio+text', 'text'], ['transcription']),
  model('stability/upscale-fast', 'Fast Upscaler', ['image', 'image'], ['upscale'], { usd: 0.02 }),
  model('openai/gpt-5', 'GPT-5', ['text+image', 'text'], ['text']),
  model('runway/gen4_turbo', 'Gen-4 Turbo', ['image+text', 'video'], ['image-to-video']),
];
const ids = (query: string) => searched(searchable(models), query).map(({ model: { id } }) => id);
const order = (sort: Sort, pinned: string[] = [], recent: string[] = []) =>
  listed(models, { pinned, recent }, sort).map(({ model: { id } }) => id);

describe('searched', () => {
  it.each([
    ['kontxt', 'bfl/flux-kontext-pro'],
    ['wisper', 'openai/whisper-1'],
    ['upscalre', 'stability/upscale-fast'],
    ['transcrption', 'openai/whisper-1'],
    ['talking head', 'kling/videos-lip-sync'],
    ['tts', 'openai/tts-1'],
    ['animate', 'runway/gen4_turbo'],
    ['chatbot', 'openai/gpt-5'],
    ['flux edit', 'bfl/flux-kontext-pro'],
  ])('finds %s', (query, id) => expect(ids(query)).toContain(id));

  it('needs a match for every word, and puts names before descriptions', () => {
    expect(ids('flux qqqqqq')).toEqual([]);
    expect(ids('music')[0]).toBe('elevenlabs/music');
  });
});

describe('the order of the gallery', () => {
  it('is by use here and then by everyone, or by name', () => {
    expect(order('used', [], ['runway/gen4_turbo', 'openai/gpt-5']).slice(0, 5)).toEqual([
      'runway/gen4_turbo',
      'openai/gpt-5',
      'bfl/flux-2-pro',
      'bfl/flux-kontext-pro',
      'elevenlabs/music',
    ]);
    expect(order('name', [], ['runway/gen4_turbo'])[0]).toBe('elevenlabs/music');
  });

  it('is by price among models with the same unit', () => {
    const priced = order('price').filter((id) => /^(bfl|stability|kling|openai\/tts)/.test(id));
    expect(priced).toEqual([
      'stability/upscale-fast',
      'bfl/flux-2-pro',
      'bfl/flux-kontext-pro',
      'kling/videos-lip-sync',
      'openai/tts-1',
    ]);
  });

  it('is by measured speed or by age, with the others last and by name', () => {
    expect(order('speed').slice(0, 3)).toEqual([
      'bfl/flux-kontext-pro',
      'bfl/flux-2-pro',
      'elevenlabs/music',
    ]);
    expect(order('newest').slice(0, 3)).toEqual([
      'bfl/flux-2-pro',
      'bfl/flux-kontext-pro',
      'elevenlabs/music',
    ]);
  });

  it('has pinned models first, whatever the order', () => {
    for (const sort of sorts) {
      expect(order(sort, ['openai/whisper-1'], ['bfl/flux-2-pro'])[0]).toBe('openai/whisper-1');
    }
  });

  it('keeps only models of the chosen task', () => {
    const all = listed(models, { pinned: [], recent: [] }, 'name');
    const edits = found(all, { words: '', task: 'edit', modality: undefined, provider: undefined });
    expect(edits.map(({ id }) => id)).toEqual(['bfl/flux-kontext-pro', 'bfl/flux-2-pro']);
  });
});
