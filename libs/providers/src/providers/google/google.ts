import { type JsonPointer, spellingsOf } from '#schemas';
import type { AccountReports } from '../../condition.js';
import type { ProviderDefinition, ProviderTools, Run } from '../../contract.js';
import { serviceAccount } from '../../credentials/service-account.js';
import { jsonBody } from '../../encodings.js';
import type { StreamSpec } from '../../event-fold.js';
import { job } from '../../job.js';
import { upstream } from '../../kept-handle.js';
import { protocols } from '../../protocols.js';
import { answerRules, ended, refused, videoRules, violations, withoutThoughts } from './rules.js';
import { storedBelow, withSignedLinks } from './storage.js';

/** Each region has its own host; the location `global` has the host without a prefix. */
const regionalHost = /^https:\/\/(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com/;

/** Where Veo takes an image or a video in base64. */
const videoFiles = ['image', 'lastFrame', 'video', 'mask', 'referenceImages/*/image'].flatMap((member) =>
  spellingsOf(`/instances/*/${member}/bytesBase64Encoded`).map((path) => ({ path })),
);

/** Where Gemini takes a file in base64. */
const inlineFiles = spellingsOf('/contents/*/parts/*/inlineData/data').map((path) => ({ path }));

const errorDocument = 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/api-errors';
const date = '2026-11-25';

const account = {
  key: [
    { http: 401, source: errorDocument, date },
    { http: 403, source: errorDocument, date },
  ],
  balance: [{ http: 402, source: 'https://ai.google.dev/gemini-api/docs/billing', date }],
  // The documents mention only quotas per minute, which recover.
  quota: { notDocumentedIn: errorDocument, date },
} as const satisfies AccountReports;

/** Each event is an answer with the next part of the text. The usage counts everything so far. */
const textStream: StreamSpec = {
  request: { alt: 'sse' },
  maxTokens: ['/generationConfig/maxOutputTokens'],
  fold: [{ from: '', to: '' }],
  names: {},
  appended: ['/candidates/*/content/parts', '/candidates/*/groundingMetadata/webSearchQueries'],
  text: ['/candidates/*/content/parts/*/text'],
  written: ['/candidates/*/content/parts'],
  writtenTokens: ['/usageMetadata/candidatesTokenCount', '/usageMetadata/thoughtsTokenCount'],
  answered: { every: '/candidates/*/finishReason' },
  usageWhen: { path: '/usageMetadata' },
  goesOn: true,
  end: [{ path: '/candidates/*/finishReason' }, { path: '/promptFeedback/blockReason' }],
  errorWhen: { path: '/error' },
  errorStatus: '/error/code',
  statuses: {},
};

/**
 * A picture comes in one event. Only the last report has its tokens, so an earlier one, without them, is not read: a stream that
 * is left pays the computed price.
 */
const imageStream: StreamSpec = {
  ...textStream,
  maxTokens: [],
  fold: [
    ...(['/candidates', '/promptFeedback', '/modelVersion', '/responseId'] as const).map((place) => ({
      from: place,
      to: place,
    })),
    { when: { path: '/candidates/*/finishReason' }, from: '/usageMetadata', to: '/usageMetadata' },
  ],
};

const streams: ProviderDefinition['streams'] = ({ protocol, method }) =>
  protocol === 'text' ? textStream : method === 'generateContent' ? imageStream : undefined;

/** Version 2.5 is billed by prompt, later ones by query. Texts that a search finds are free. */
function textTools(model: string): ProviderTools {
  const count: JsonPointer = '/candidates/*/groundingMetadata/webSearchQueries';
  const fee = model.startsWith('gemini-2.5')
    ? { usd: 0.035, reported: { count, most: 1 }, likely: 1, most: 1 }
    : { usd: 0.014, reported: { count }, likely: 2, most: 20 };
  return {
    googleSearch: { likely_tokens: 0, fee },
    urlContext: { likely_tokens: 30_000 },
    codeExecution: { likely_tokens: 10_000 },
  };
}

const answering = ({ streams: isStream }: Run, method: string): string =>
  isStream ? 'streamGenerateContent?alt=sse' : method;

/** Google's models on Vertex AI: Veo runs are operations polled by POST; images and text come with the reply. */
export const google: ProviderDefinition = {
  name: 'google',
  defaultBase: 'https://us-central1-aiplatform.googleapis.com/v1',
  submitTimeoutMs: 540_000,
  takesBothSpellings: true,
  account,
  callerTools: () => ({ functionDeclarations: 0 }),
  // Read at https://cloud.google.com/vertex-ai/generative-ai/pricing on 28 November 2026. The rows refuse other tools with a fee.
  providerTools: ({ protocol, path = '' }) => (protocol === 'text' ? textTools(path) : undefined),
  streams,
  tokenCount: ({ protocol }) => (protocol === 'text' ? { method: 'countTokens' } : undefined),
  settings: {
    PROJECT: {
      description: 'Google Cloud project that is billed. Without it, the models of google fail at dispatch.',
      example: 'my-project',
    },
    LOCATION: {
      description: 'Location of models whose row does not name one.',
      example: 'us-central1',
      default: 'us-central1',
    },
    STORAGE_URI: {
      description:
        'Storage location to which Veo writes its videos; results then contain links signed for 24 hours. If unset, results contain the videos themselves.',
      example: 'gs://my-bucket/videos',
    },
  },
  create(base, { PROJECT = '', LOCATION = '', STORAGE_URI = '' }) {
    const modelAt = (location: string | undefined, model: string) => {
      const place = location ?? (LOCATION || 'us-central1');
      const host = place === 'global' ? 'aiplatform' : `${place}-aiplatform`;
      const own = base.replace(regionalHost, `https://${host}.googleapis.com`);
      return `${own}/projects/${PROJECT || '-'}/locations/${place}/publishers/google/models/${model}`;
    };
    const modelOf = (run: Run) => modelAt(run.upstream['location'], upstream(run, 'path'));
    const target = STORAGE_URI.replace(/(?<!\/)\/+$/, '');
    const common = {
      base,
      account,
      credentialOrigins: [/^https:\/\/(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com$/],
      exchange: serviceAccount(),
      fields: violations,
      retryAfter: '/error/details/*/retryDelay',
    } as const;
    const stored = (run: Run) => jsonBody({ ...run, body: storedBelow(target, run) }, videoFiles);
    const adapter = protocols({
      video: job({
        ...common,
        submit: {
          url: (run) => `${modelOf(run)}:predictLongRunning`,
          base64: videoFiles,
          ...(target !== '' && { encode: stored }),
        },
        handle: { name: { path: '/name' }, model: { upstream: 'path' } },
        poll: {
          call: ({ name, model }) => ({
            method: 'POST',
            // An operation can be polled only in its own location.
            url: `${modelAt(/\/locations\/([a-z0-9-]+)\//.exec(name)?.[1], model)}:fetchPredictOperation`,
            headers: { 'content-type': 'application/json' },
            body: Buffer.from(JSON.stringify({ operationName: name })),
          }),
          status: '/done',
          // An operation in progress names no state, or says that it is not done.
          statuses: { '': 'running', false: 'running', true: 'succeeded' },
          everyMs: 10_000,
        },
        resultPaths: ['/response/videos/*/bytesBase64Encoded', '/response/videos/*/gcsUri'],
        rules: videoRules,
      }),
      image: job({
        ...common,
        submit: {
          url: (run) => `${modelOf(run)}:${answering(run, upstream(run, 'method'))}`,
          base64: inlineFiles,
        },
        stream: imageStream,
        view: withoutThoughts,
        successWhen: [
          { path: '/candidates/*/finishReason', matches: ended },
          { path: '/candidates/*/finishReason', matches: refused },
          { path: '/predictions/*/bytesBase64Encoded' },
        ],
        // If the input allows it, a model may answer with text, which is billed too.
        resultPaths: [
          '/candidates/*/content/parts/*/inlineData/data',
          '/candidates/*/content/parts/*/text',
          '/predictions/*/bytesBase64Encoded',
        ],
        rules: [
          ...answerRules('/candidates/*/content/parts/*/inlineData/data'),
          {
            http: 200,
            path: '/candidates/*/finishReason',
            equals: 'NO_IMAGE',
            unless: ['/candidates/*/content/parts/*/inlineData/data', '/candidates/*/content/parts/*/text'],
            class: 'provider_failed',
          },
        ],
      }),
      // One vector for each instance.
      embedding: job({
        ...common,
        submit: { url: (run) => `${modelOf(run)}:predict` },
        resultPaths: ['/predictions/*/embeddings/values/*'],
        rules: [],
      }),
      text: job({
        ...common,
        submit: {
          url: (run) => `${modelOf(run)}:${answering(run, run.upstream['method'] ?? 'generateContent')}`,
        },
        stream: textStream,
        // An answer may be a tool call, or only thoughts. An answer that was cut off may be empty.
        successWhen: [
          { path: '/totalTokens' },
          { path: '/candidates/*/finishReason', equals: 'MAX_TOKENS' },
          [{ path: '/candidates/*/finishReason', matches: ended }, { path: '/candidates/*/content/parts/*' }],
          [
            { path: '/candidates/*/finishReason', matches: refused },
            { path: '/candidates/*/content/parts/*' },
          ],
        ],
        resultPaths: ['/candidates/*', '/totalTokens'],
        rules: answerRules('/candidates/*/content/parts/*/text'),
      }),
    });
    if (target === '') return adapter;
    return {
      ...adapter,
      sign: (output, runId, secret, nowMs) => withSignedLinks(output, `${target}/${runId}`, secret, nowMs),
    };
  },
};
