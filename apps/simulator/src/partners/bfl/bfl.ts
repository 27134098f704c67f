import { createHash } from 'node:crypto';
import { Verbatim } from '../../json-text.js';
import { endOf, type Generation } from '../../ledger/generation.js';
import { keyIn } from '../../keys.js';
import type { Partner, Reply, View } from '../../partner.js';
import { progressOf } from './progress.js';

const assetLifeMs = 10 * 60_000;

/**
 * Black Forest Labs: submit, then poll a URL that the reply names and that lives on another host. There is no
 * queued state, no cancel, and the signed asset URL is good for ten minutes.
 */
export const bfl: Partner = {
  name: 'bfl',
  authorized: keyIn('x-key'),
  submits: [
    {
      path: '/v1/:model',
      modelOf: (params) => params['model'],
      prompt: {
        loc: ['body', 'prompt'],
        read: (body) => body['prompt'],
        optionalFor: (model) => /^flux-(dev|pro-1)/.test(model),
      },
      answer: accepted,
    },
  ],
  refusals: {
    unauthorized: { status: 403, body: { detail: 'Not authenticated - Invalid Authentication' } },
    no_credit: { status: 402, body: { detail: 'Insufficient credits. Add more credits at api.bfl.ai.' } },
    throttled: { status: 429, body: { detail: 'Too many active tasks; at most 24 run at a time.' } },
    unavailable: { status: 503, body: { detail: 'Service temporarily unavailable' } },
    broken: { status: 500, body: { detail: 'Internal Server Error' } },
  },
  policyRefusal: null,
  fieldErrors: (errors) => ({ status: 422, body: { detail: errors } }),
  exampleFieldError: {
    type: 'less_than_equal',
    loc: ['body', 'width'],
    msg: 'Input should be less than or equal to 1440',
    input: 5000,
    ctx: { le: 1440 },
  },
  calls: (['assets', 'api'] as const).map((listener) => ({
    listener,
    method: 'GET',
    path: '/v1/get_result',
    role: 'poll',
    answer: (view) => ({ status: 200, body: { id: shownId(view), ...progressOf(view, sampleUrl(view)) } }),
    unknown: (id) => ({
      status: 404,
      body: { id, status: 'Task not found', result: null, progress: null, details: null, preview: null },
    }),
  })),
  cancel: null,
  asset: {
    path: '/results/:id/:file',
    refused: (generation, query, nowMs) =>
      nowMs >= expiryOf(generation) ||
      query['se'] !== new Date(expiryOf(generation)).toISOString() ||
      query['sig'] !== signatureOf(generation),
  },
};

function accepted(view: View): Reply {
  return {
    status: 200,
    body: {
      id: shownId(view),
      polling_url: `${view.assets}/v1/get_result?id=${view.generation.id}`,
      cost: new Verbatim('3.0'),
      input_mp: new Verbatim('0.0'),
      output_mp: 1.05,
    },
  };
}

function shownId({ generation, control }: View): string | Verbatim {
  return control.has('int64_id') ? new Verbatim(generation.id) : generation.id;
}

function expiryOf(generation: Generation): number {
  return endOf(generation) + assetLifeMs;
}

function signatureOf(generation: Generation): string {
  return createHash('sha256')
    .update(`${generation.id} ${expiryOf(generation)}`)
    .digest('base64url');
}

function sampleUrl({ generation, assets }: View): string {
  const query = new URLSearchParams({
    se: new Date(expiryOf(generation)).toISOString(),
    sp: 'r',
    sig: signatureOf(generation),
  });
  return `${assets}/results/${generation.id}/sample.png?${query.toString()}`;
}
