import type {
  Experimental_VideoModelV3 as VideoModel,
  Experimental_VideoModelV3File as VideoFile,
  ImageModelV3 as ImageModel,
  ImageModelV3File as ImageFile,
  JSONObject,
  LanguageModelV3 as LanguageModel,
  SharedV3Warning as Warning,
  SpeechModelV3 as SpeechModel,
  TranscriptionModelV3 as TranscriptionModel,
} from '@ai-sdk/provider';
import {
  counts,
  inputSchemaOf,
  lastFrames,
  masks,
  putFirstFrame,
  putImages,
  putPrompt,
  putSize,
  ratioNotations,
  ratios,
  resolutionNotations,
  seeds,
  spoken,
  type Put,
} from './ai-fields.js';
import { InputBuilder, type InputSchema } from './ai-input.js';
import { fromBase64, type Media, type MediaKind, mediaOf, transcriptOf } from './ai-output.js';
import { modelPath } from './model-path.js';
import type { Router, RunResult } from './router.js';
import type { SdkSettings } from './session.js';
import type { RunHandle } from './wire.js';

/** Such as `createOpenAI` of `@ai-sdk/openai`. */
type CreateVendor = (settings: SdkSettings) => { languageModel: (name: string) => LanguageModel };

/** Each vendor, by the first segment of a model's id, has the path below which the router serves it, and its provider. */
const vendors = {
  openai: { path: '/openai/v1', from: 'createOpenAI of @ai-sdk/openai' },
  anthropic: { path: '/anthropic/v1', from: 'createAnthropic of @ai-sdk/anthropic' },
  vertexai: { path: '/gemini/v1beta', from: 'createGoogleGenerativeAI of @ai-sdk/google' },
} as const;
type VendorName = keyof typeof vendors;
const isVendor = (name: string): name is VendorName => Object.hasOwn(vendors, name);

export interface ProviderSettings {
  /** Providers of the vendors whose language models you use, such as `{ openai: createOpenAI }`. */
  languageModels?: Partial<Record<VendorName, CreateVendor>>;
  /** Called, and awaited, as soon as a run is submitted. Keep the id to collect the run after a restart. */
  onRun?: (run: { runId: string; modelId: string }) => unknown;
  /** Time limit of a run, with the wait in the queue. Defaults to an hour. */
  timeoutMs?: number;
  /** Replaces the global `fetch` for the files of outputs. */
  fetch?: typeof fetch;
}

/** `providerOptions.router` of each call. */
interface RouterOptions {
  /** Fields of the model's own input. They replace those that the call's options were mapped to. */
  input?: JSONObject;
  idempotencyKey?: string;
  /** Collects this run instead of starting one. */
  runId?: string;
}

interface CallOptions {
  providerOptions?: Record<string, JSONObject>;
  abortSignal?: AbortSignal | undefined;
}

/** A file of a call: bytes, base64 or a URL. */
type File = ImageFile | VideoFile | { type: 'file'; mediaType: string; data: string | Uint8Array };

const provider = 'router';
const defaultTimeoutMs = 3_600_000;

/**
 * A provider for version 6 of the `ai` SDK: image, video, speech, transcription and language models by their id in the
 * router. The options of a call are put into the fields that the model has for them; what no field takes becomes a
 * warning. Language models are those of the vendor's own provider, on the router's endpoints.
 */
export function createProvider(router: Router, settings: ProviderSettings = {}) {
  const schemas = new Map<string, Promise<InputSchema>>();

  function builderOf(modelId: string): Promise<InputBuilder> {
    let schema = schemas.get(modelId);
    if (schema === undefined) {
      schema = router.document(modelId).then(inputSchemaOf);
      schemas.set(modelId, schema);
      schema.catch(() => schemas.delete(modelId));
    }
    return schema.then((each) => new InputBuilder(each));
  }

  /** Runs a model through the queue. The run does not depend on this process. */
  async function ran(
    modelId: string,
    { providerOptions, abortSignal }: CallOptions,
    fill: (builder: InputBuilder, put: Put, urlOf: (file: File) => Promise<string>) => Promise<void> | void,
  ) {
    const { input: own, idempotencyKey, runId } = (providerOptions?.[provider] ?? {}) as RouterOptions;
    const options = {
      timeoutMs: settings.timeoutMs ?? defaultTimeoutMs,
      ...(abortSignal && { signal: abortSignal }),
    };
    const warnings: Warning[] = [];
    let input: Record<string, unknown> = {};
    let run: RunHandle;
    if (runId === undefined) {
      const builder = await builderOf(modelId);
      const put: Put = (feature, names, ...notations) => {
        const isGiven = notations[0] !== undefined;
        if (isGiven && !builder.put(names, ...notations)) warnings.push(unsupported(feature, modelId));
      };
      await fill(builder, put, (file) => uploadedUrl(router, file, options));
      input = { ...builder.input, ...own };
      run = await router.submit(modelId, input, {
        ...options,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      });
      await settings.onRun?.({ runId: run.request_id, modelId });
    } else run = handleOf(modelId, runId);
    const result: RunResult<unknown> = await router.collect(run, options);
    const facts = {
      runId: run.request_id,
      ...(result.costCents !== undefined && { costCents: result.costCents }),
    };
    const response = { timestamp: new Date(), modelId, headers: undefined };
    const files = (kind: MediaKind): [Media, ...Media[]] => {
      const [first, ...others] = mediaOf(result, kind, textsIn(input));
      if (first !== undefined) return [first, ...others];
      const text = `The output of run ${run.request_id} of ${modelId} has no ${kind}.`;
      throw new Error(text, { cause: result.output });
    };
    return { result, files, warnings, facts, response };
  }

  async function bytesOf(media: Media, signal: AbortSignal | undefined): Promise<Uint8Array> {
    if ('bytes' in media) return media.bytes;
    const answer = await (settings.fetch ?? fetch)(media.url, signal ? { signal } : {});
    if (!answer.ok) throw new Error(`A file of the output answered HTTP ${answer.status}: ${media.url}`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  const image = (modelId: string): ImageModel => ({
    specificationVersion: 'v3',
    provider: `${provider}.image`,
    modelId,
    maxImagesPerCall: async () => (await builderOf(modelId)).maximumOf(counts) ?? 1,
    async doGenerate(call) {
      const { files, warnings, facts, response } = await ran(modelId, call, async (builder, put, urlOf) => {
        putPrompt(builder, put, call.prompt);
        if (call.n > 1) put('n', counts, call.n);
        putSize(builder, put, call.size);
        put('aspectRatio', ratios, ...ratioNotations(call.aspectRatio));
        put('seed', seeds, call.seed);
        putImages(builder, put, await Promise.all((call.files ?? []).map(urlOf)));
        if (call.mask) put('mask', masks, await urlOf(call.mask));
      });
      const images = await Promise.all(files('image').map((each) => bytesOf(each, call.abortSignal)));
      return {
        images,
        warnings,
        response,
        providerMetadata: { [provider]: { ...facts, images: images.map(() => facts) } },
      };
    },
  });

  const video = (modelId: string): VideoModel => ({
    specificationVersion: 'v3',
    provider: `${provider}.video`,
    modelId,
    maxVideosPerCall: 1,
    async doGenerate(call) {
      const { files, warnings, facts, response } = await ran(modelId, call, async (builder, put, urlOf) => {
        putPrompt(builder, put, call.prompt);
        put('aspectRatio', ratios, ...ratioNotations(call.aspectRatio));
        put('resolution', ['resolution', 'size'], ...resolutionNotations(call.resolution));
        const seconds = call.duration;
        const durations = ['duration', 'durationSeconds', 'duration_seconds', 'seconds'];
        put('duration', durations, ...(seconds === undefined ? [] : [seconds, `${seconds}`, `${seconds}s`]));
        put('fps', ['fps', 'frame_rate', 'frames_per_second'], call.fps);
        put('seed', seeds, call.seed);
        const sound = call.generateAudio;
        const sounds = ['generate_audio', 'generateAudio', 'with_audio', 'audio', 'sound'];
        put('generateAudio', sounds, sound, ...(sound === undefined ? [] : [sound ? 'on' : 'off']));
        const last = call.frameImages?.find(({ frameType }) => frameType === 'last_frame')?.image;
        if (call.image) putFirstFrame(builder, put, await urlOf(call.image));
        if (last) put('last_frame', lastFrames, await urlOf(last));
        putImages(builder, put, await Promise.all((call.inputReferences ?? []).map(urlOf)));
      });
      const [found] = files('video');
      // The SDK's own download refuses private addresses, where the router may be.
      const data = await bytesOf(found, call.abortSignal);
      return {
        videos: [{ type: 'binary', data, mediaType: found.mediaType }],
        warnings,
        response,
        providerMetadata: { [provider]: facts },
      };
    },
  });

  const speech = (modelId: string): SpeechModel => ({
    specificationVersion: 'v3',
    provider: `${provider}.speech`,
    modelId,
    async doGenerate(call) {
      const { files, warnings, facts, response } = await ran(modelId, call, (_builder, put) => {
        put('text', spoken, call.text);
        put('voice', ['voice', 'voice_id'], call.voice);
        put('outputFormat', ['response_format', 'output_format', 'format'], call.outputFormat);
        put('instructions', ['instructions', 'style_instructions'], call.instructions);
        put('speed', ['speed'], call.speed);
        put('language', ['language', 'language_code', 'language_boost'], call.language);
      });
      const [found] = files('audio');
      const audio = await bytesOf(found, call.abortSignal);
      return { audio, warnings, response, providerMetadata: { [provider]: facts } };
    },
  });

  const transcription = (modelId: string): TranscriptionModel => ({
    specificationVersion: 'v3',
    provider: `${provider}.transcription`,
    modelId,
    async doGenerate({ audio, mediaType, ...call }) {
      const { result, warnings, facts, response } = await ran(modelId, call, async (_builder, put, urlOf) =>
        put(
          'audio',
          ['file', 'audio', 'audio_url', 'audio_file'],
          await urlOf({ type: 'file', data: audio, mediaType }),
        ),
      );
      const transcript = transcriptOf(result.output);
      if (transcript === undefined)
        throw new Error(`The output of run ${facts.runId} of ${modelId} has no transcript.`);
      return {
        ...transcript,
        warnings,
        response: { ...response, headers: {} },
        providerMetadata: { [provider]: facts },
      };
    },
  });

  function languageModel(modelId: string): LanguageModel {
    const [vendor = '', name = ''] = modelId.split(/\/(.*)/s);
    if (!isVendor(vendor)) throw notOffered(modelId, 'language');
    const { path, from } = vendors[vendor];
    const create = settings.languageModels?.[vendor];
    if (create !== undefined) return create(router.sdk(path)).languageModel(name);
    throw new Error(
      `The language model ${modelId} needs ${from}: pass { languageModels: { ${vendor}: … } } to createProvider.`,
    );
  }

  return {
    specificationVersion: 'v3' as const,
    image,
    imageModel: image,
    video,
    videoModel: video,
    speech,
    speechModel: speech,
    transcription,
    transcriptionModel: transcription,
    languageModel,
    embeddingModel: (modelId: string): never => {
      throw notOffered(modelId, 'embedding');
    },
  };
}

const unsupported = (feature: string, modelId: string): Warning => ({
  type: 'unsupported',
  feature,
  details: `${modelId} has no field that takes it. Pass its own field in providerOptions.${provider}.input.`,
});

const notOffered = (modelId: string, kind: string): Error =>
  new Error(`There is no ${kind} model for ${modelId}. Use run or stream of the router's client.`);

const handleOf = (modelId: string, runId: string): RunHandle => {
  const url = `${modelPath(modelId)}/requests/${runId}`;
  return { request_id: runId, status_url: `${url}/status`, response_url: url, cancel_url: `${url}/cancel` };
};

async function uploadedUrl(
  router: Router,
  file: File,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<string> {
  if (file.type === 'url') return file.url;
  const bytes = typeof file.data === 'string' ? fromBase64(file.data) : new Uint8Array(file.data);
  return router.upload(new Blob([bytes], { type: file.mediaType }), options);
}

function textsIn(value: unknown, texts = new Set<string>()): Set<string> {
  if (typeof value === 'string') texts.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) textsIn(member, texts);
  return texts;
}
