import { loadCatalog } from '#catalog';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createProvider } from '../../libs/client/src/ai.js';
import { inputSchemaOf, type Put, putImages, putPrompt } from '../../libs/client/src/ai-fields.js';
import { InputBuilder, type InputSchema } from '../../libs/client/src/ai-input.js';
import { mediaOf } from '../../libs/client/src/ai-output.js';
import { createRouter, type Router, type RouterError } from '../../libs/client/src/index.js';
import {
  failOnLeftovers,
  newTag,
  sharedSystem,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';
import { tinyImage } from './tiny-image.js';

const [transport = 'postgres'] = transports();

interface Warnings {
  warnings: { type: string; feature?: string }[];
}
interface File {
  uint8Array: Uint8Array;
  mediaType: string;
}
type Metadata = Record<string, Record<string, unknown>>;
interface AiModule {
  generateImage: (call: object) => Promise<Warnings & { images: File[]; providerMetadata: Metadata }>;
  experimental_generateVideo: (
    call: object,
  ) => Promise<Warnings & { videos: File[]; providerMetadata: Metadata }>;
  experimental_generateSpeech: (call: object) => Promise<Warnings & { audio: File }>;
  experimental_transcribe: (call: object) => Promise<Warnings & { text: string; segments: object[] }>;
  createProviderRegistry: (providers: object) => { imageModel: (id: string) => object };
}
// A name that TypeScript does not follow: under the condition "source", types of this package are TypeScript sources.
// packages.spec.ts checks the types.
const sdk = 'ai';

describe('the provider for the ai SDK', () => {
  const system = sharedSystem(transport);
  let caller: TestCaller;
  let router: Router;
  let ai: AiModule;
  let models: ReturnType<typeof createProvider>;

  beforeAll(async () => {
    ai = (await import(sdk)) as AiModule;
    caller = await system.caller({ inflightLimit: 20 });
    router = createRouter({ key: caller.key, baseUrl: system.gateways[0]?.url ?? '' });
    models = createProvider(router);
  });

  const sent = async (tag: string) => {
    const [entry] = await system.provider.ledger(tag);
    return JSON.parse(Buffer.from(entry?.bodyBase64 ?? '', 'base64').toString()) as Record<string, unknown>;
  };

  it('generates an image', async () => {
    const tag = newTag('image');
    const { images, warnings, providerMetadata } = await ai.generateImage({
      model: models.image('bfl/flux-2-pro'),
      prompt: `a red fox [[sim:tag=${tag}]]`,
      size: '1024x768',
      seed: 7,
    });
    expect(images).toHaveLength(1);
    expect(images[0]?.mediaType).toMatch(/^image\//);
    expect(images[0]?.uint8Array.length).toBeGreaterThan(50);
    expect(warnings).toEqual([]);
    expect(providerMetadata['router']?.['images']).toEqual([
      { runId: expect.stringMatching(/^[0-9a-f-]{36}$/), costCents: expect.any(Number) },
    ]);
    expect(await sent(tag)).toMatchObject({ width: 1024, height: 768, seed: 7 });
  });

  it('generates several images in one run if the model can', async () => {
    const tag = newTag('many');
    const { images } = await ai.generateImage({
      model: models.image('fal/flux-dev'),
      prompt: `foxes [[sim:tag=${tag}]]`,
      n: 2,
      size: '1024x1024',
    });
    expect(images).toHaveLength(2);
    expect(await sent(tag)).toMatchObject({ num_images: 2, image_size: { width: 1024, height: 1024 } });
    expect(await system.provider.accepted(tag)).toBe(1);
  });

  it('edits an image', async () => {
    const tag = newTag('edit');
    const { images } = await ai.generateImage({
      model: models.image('bfl/flux-2-pro'),
      prompt: { text: `in blue [[sim:tag=${tag}]]`, images: [tinyImage, tinyImage] },
    });
    expect(images).toHaveLength(1);
    expect(await sent(tag)).toMatchObject({
      input_image: expect.stringMatching(/^http/),
      input_image_2: expect.stringMatching(/^http/),
    });
  });

  it('warns of options that the model has no field for, and sends native ones as they are', async () => {
    const tag = newTag('native');
    const { warnings } = await ai.generateImage({
      model: models.image('bfl/flux-2-pro'),
      prompt: `[[sim:tag=${tag}]]`,
      aspectRatio: '16:9',
      providerOptions: { router: { input: { safety_tolerance: 4 } } },
    });
    expect(warnings).toEqual([expect.objectContaining({ type: 'unsupported', feature: 'aspectRatio' })]);
    expect(await sent(tag)).toMatchObject({ safety_tolerance: 4 });
  });

  it('works through the registry of the SDK', async () => {
    const registry = ai.createProviderRegistry({ router: models });
    const { images } = await ai.generateImage({
      model: registry.imageModel('router:bfl/flux-2-pro'),
      prompt: 'registered',
    });
    expect(images).toHaveLength(1);
  });

  it('generates a video', async () => {
    const tag = newTag('video');
    const { videos, warnings } = await ai.experimental_generateVideo({
      model: models.video('luma/ray-2'),
      prompt: `a dog [[sim:tag=${tag}]]`,
      aspectRatio: '9:16',
      resolution: '1280x720',
      duration: 9,
    });
    expect(videos[0]).toMatchObject({ mediaType: 'video/mp4' });
    expect(videos[0]?.uint8Array.length).toBeGreaterThan(10);
    expect(warnings).toEqual([]);
    expect(await sent(tag)).toMatchObject({ aspect_ratio: '9:16', resolution: '720p', duration: '9s' });
  });

  it('collects the video of a caller that was started again, and pays once', async () => {
    const tag = newTag('restarted');
    const kept: { runId: string; modelId: string }[] = [];
    const ended = new AbortController();
    const first = ai.experimental_generateVideo({
      model: createProvider(router, {
        onRun: (run) => {
          kept.push(run);
          ended.abort(new Error('the process ended'));
        },
      }).video('luma/ray-2'),
      prompt: `a dog [[sim:tag=${tag}]] ${unending}`,
      abortSignal: ended.signal,
      maxRetries: 0,
    });
    await expect(first).rejects.toThrow('the process ended');
    const [run] = kept;
    expect(run?.modelId).toBe('luma/ray-2');

    // Another process knows only the id.
    const restarted = createProvider(
      createRouter({ key: caller.key, baseUrl: system.gateways[1]?.url ?? '' }),
    );
    const again = ai.experimental_generateVideo({
      model: restarted.video('luma/ray-2'),
      prompt: 'a dog',
      providerOptions: { router: { runId: run?.runId } },
    });
    await waitFor(async () => (await system.provider.accepted(tag)) === 1, {
      withinMs: 60_000,
      what: 'the submission',
    });
    await system.provider.finish(tag);
    const { videos, providerMetadata } = await again;
    expect(videos).toHaveLength(1);
    expect(providerMetadata['router']).toMatchObject({ runId: run?.runId });
    expect(await system.provider.accepted(tag)).toBe(1);
  });

  it('speaks', async () => {
    const { audio, warnings } = await ai.experimental_generateSpeech({
      model: models.speech('openai/tts-1'),
      text: 'hello',
      voice: 'ash',
      speed: 1.5,
      outputFormat: 'mp3',
    });
    expect(audio.mediaType).toBe('audio/mpeg');
    expect(audio.uint8Array.length).toBeGreaterThan(10);
    expect(warnings).toEqual([]);
  });

  it.each(['openai/whisper-1', 'elevenlabs/scribe_v2'])('transcribes with %s', async (id) => {
    const { audio } = await ai.experimental_generateSpeech({
      model: models.speech('openai/tts-1'),
      text: 'hello',
      voice: 'ash',
    });
    const { text } = await ai.experimental_transcribe({
      model: models.transcription(id),
      audio: audio.uint8Array,
    });
    expect(text.length).toBeGreaterThan(0);
  });

  it('throws the router’s own error, with the id of the run', async () => {
    const failed = ai.generateImage({
      model: models.image('bfl/flux-2-pro'),
      prompt: '[[sim:policy_output]]',
    });
    await expect(failed).rejects.toMatchObject({
      bucket: 'content_policy_violation',
      runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const unknown = ai.generateImage({ model: models.image('bfl/flux-9'), prompt: 'x' });
    await expect(unknown).rejects.toMatchObject({ bucket: 'model_not_found' });
  });

  it('maps a plain call of most models, and finds the files in their outputs', async () => {
    const counts = { image: { all: 0, fit: 0 }, video: { all: 0, fit: 0 } };
    const unread: string[] = [];
    const builtIn = new Set((await loadCatalog()).models.map(({ id }) => id));
    const fits = async (id: string, kind: 'image' | 'video', needsImage: boolean) => {
      const document = await router.document(id);
      const input = plainInput(inputSchemaOf(document), needsImage);
      const isFit = await router.cost(id, input).then(
        () => true,
        (error: RouterError) => {
          if (error.status === 422) return false;
          throw error;
        },
      );
      counts[kind].all += 1;
      counts[kind].fit += Number(isFit);
      const [type, { example }] = outputOf(document);
      if (example === undefined || type !== 'application/json') return;
      const result = {
        output: example,
        bytes: new Uint8Array(),
        contentType: type,
        costCents: 0,
        runId: '',
        callId: '',
        unknownFields: {},
      };
      if (mediaOf(result, kind, new Set()).length === 0) unread.push(id);
    };
    for await (const {
      id,
      output_modalities: [kind],
      input_modalities: [main],
    } of router.models())
      // Other files of tests serve rows of their own.
      if (builtIn.has(id) && (kind === 'image' || kind === 'video')) await fits(id, kind, main === 'image');
    expect(counts.image.fit / counts.image.all).toBeGreaterThan(0.8);
    expect(counts.video.fit / counts.video.all).toBeGreaterThan(0.7);
    // The example of this model is a video, although its first modality is the image.
    expect(unread).toEqual(['beeble/switchx']);
  });

  it('says what a language model needs, and which ones are not offered', () => {
    expect(() => models.languageModel('openai/gpt-5')).toThrow('needs createOpenAI of @ai-sdk/openai: pass');
    expect(() => models.languageModel('kimi/kimi-k2')).toThrow('no language model');
    expect(() => models.embeddingModel('openai/text-embedding-3-small')).toThrow('no embedding model');
  });
});

/** The input of a call with a prompt, and an image if the model needs one. */
function plainInput(schema: InputSchema, needsImage: boolean): Record<string, unknown> {
  const builder = new InputBuilder(schema);
  const put: Put = (_feature, names, ...notations) => void builder.put(names, ...notations);
  putPrompt(builder, put, 'a fox');
  if (needsImage) putImages(builder, put, ['https://example.com/fox.png']);
  return builder.input;
}

type Content = Record<string, { example?: unknown }>;

/** The media type of a model's output, and its example. */
function outputOf(document: Record<string, unknown>): [string, { example?: unknown }] {
  const [path] = Object.values(
    document['paths'] as Record<string, { post: { responses: Record<string, { content?: Content }> } }>,
  );
  return Object.entries(path?.post.responses['200']?.content ?? {})[0] ?? ['', {}];
}

failOnLeftovers();
