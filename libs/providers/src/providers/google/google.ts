import type { ProviderDefinition, Run } from '../../contract.js';
import { job, upstream } from '../../job.js';
import { protocols } from '../../protocols.js';
import { imageRules, videoRules, violations } from './rules.js';
import { exchange } from './service-account.js';
import { storedBelow, withSignedLinks } from './storage.js';

/** Google's models on Vertex AI: Veo is an operation that is polled by POST, images come at once. */
export const google: ProviderDefinition = {
  name: 'google',
  defaultBase: 'https://us-central1-aiplatform.googleapis.com/v1',
  submitTimeoutMs: 180_000,
  settings: {
    PROJECT: {
      description: 'The project that is billed; without it the models of google fail at dispatch.',
      example: 'my-project',
    },
    LOCATION: {
      description: 'The region of the models; PROVIDER_GOOGLE_BASE_URL names the same one.',
      example: 'us-central1',
      default: 'us-central1',
    },
    STORAGE_URI: {
      description:
        'Where Veo writes its videos; results hold links to them, signed for 24 hours. Without it videos come inside the result.',
      example: 'gs://my-bucket/videos',
    },
  },
  create(base, { PROJECT = '', LOCATION = '', STORAGE_URI = '' }) {
    const models = `${base}/projects/${PROJECT || '-'}/locations/${LOCATION || 'us-central1'}/publishers/google/models`;
    const target = STORAGE_URI.replace(/\/+$/, '');
    const common = {
      base,
      exchange,
      fields: violations,
      retryAfter: '/error/details/*/retryDelay',
    } as const;
    const stored = (run: Run) => ({ contentType: 'application/json', body: storedBelow(target, run) });
    const adapter = protocols({
      video: job({
        ...common,
        submit: {
          url: (run) => `${models}/${upstream(run, 'path')}:predictLongRunning`,
          ...(target !== '' && { encode: stored }),
        },
        handle: { name: { at: '/name' }, model: { upstream: 'path' } },
        poll: {
          call: ({ name, model }) => ({
            method: 'POST',
            url: `${models}/${model}:fetchPredictOperation`,
            headers: { 'content-type': 'application/json' },
            body: Buffer.from(JSON.stringify({ operationName: name })),
          }),
          status: '/done',
          statuses: { true: 'succeeded' },
          everyMs: 10_000,
        },
        resultAt: ['/response/videos/*/bytesBase64Encoded', '/response/videos/*/gcsUri'],
        rules: videoRules,
      }),
      image: job({
        ...common,
        submit: { url: (run) => `${models}/${upstream(run, 'path')}:${upstream(run, 'method')}` },
        resultAt: ['/candidates/*/content/parts/*/inlineData/data', '/predictions/*/bytesBase64Encoded'],
        rules: imageRules,
      }),
    });
    if (target === '') return adapter;
    return { ...adapter, sign: (output, secret, nowMs) => withSignedLinks(output, target, secret, nowMs) };
  },
};
