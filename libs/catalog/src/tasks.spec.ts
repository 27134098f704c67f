import { beforeAll, describe, expect, it } from '@jest/globals';
import { routerTask } from '#schemas';
import { loadCatalog } from './load-catalog.js';
import type { JsonSchema } from './json-schema.js';
import type { Model } from './model.js';
import { tasksOf } from './tasks.js';

/** The names of the required fields, also of those in required objects. */
const requiredIn = ({ required = [], properties = {} }: JsonSchema): string[] =>
  required.flatMap((name) => [name, ...requiredIn(properties[name] ?? {})]);

describe('the tasks of the built-in models', () => {
  let models: readonly Model[];
  beforeAll(async () => {
    ({ models } = await loadCatalog());
  });

  it.each([
    ['bfl/flux-2-pro', ['text-to-image', 'edit']],
    ['bfl/flux-kontext-pro', ['edit']],
    ['luma/ray-2', ['text-to-video', 'image-to-video']],
    ['kling/videos-lip-sync', ['lip-sync']],
    ['openai/tts-1', ['speech']],
    ['openai/whisper-1', ['transcription']],
    ['openai/gpt-5', ['text']],
    ['vertexai/gemini-embedding-001', ['embedding']],
  ])('of %s are %j', (id, tasks) => {
    const model = models.find((each) => each.id === id);
    expect(model && tasksOf(model)).toEqual(tasks);
  });

  it('start from text only where no image or video is required', () => {
    const fromText = models.filter((model) => tasksOf(model).some((task) => task.startsWith('text-to-')));
    const needMedia = fromText.filter(({ input }) =>
      requiredIn(input).some((name) => /image|video/i.test(name)),
    );
    expect(needMedia.map(({ id }) => id)).toEqual([]);
  });

  it('are all in use, and every model with modalities has one', () => {
    const described = models.filter(({ modalities }) => modalities !== undefined);
    expect(described.filter((model) => tasksOf(model).length === 0)).toEqual([]);
    expect(new Set(models.flatMap(tasksOf))).toEqual(new Set(routerTask.options));
  });
});
