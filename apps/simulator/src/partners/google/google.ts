import { fileOf } from '../../files/file.js';
import { failureOf } from '../../ledger/generation.js';
import { momentOf } from '../../moments.js';
import type { FieldError, Partner, PartnerSubmit, Reply, View } from '../../partner.js';
import { recorded } from '../../said.js';
import { createAccount } from './account.js';

const video = recorded('google', 'video');
const picture = recorded('google', 'image');
const account = createAccount();
const models = '/projects/:project/locations/:location/publishers/google/models';

const failures = {
  policy_submit: video('poll-content-policy'),
  policy_output: video('poll-content-policy-by-error'),
  field_output: video('poll-rejected'),
  job_failed: video('poll-failed'),
};

/** Google on Vertex AI: a token for a while, an operation that is polled by POST, pictures at once. */
export const google: Partner = {
  name: 'google',
  authorized: account.authorized,
  issueKey: account.keyFor,
  doors: [account.door],
  submits: [
    submitTo('predictLongRunning', (view) => video('submit-accepted', { '/name': nameOf(view) })),
    { ...submitTo('predict', imagen), atOnce: true },
    {
      ...submitTo('generateContent', gemini),
      atOnce: true,
      prompt: { loc: ['contents'], read: (body) => textOf(body['contents']) },
    },
  ],
  refusals: {
    unauthorized: video('submit-unauthenticated'),
    no_credit: video('submit-account'),
    // Its delay of half a minute would outlast every test.
    throttled: video('submit-busy', { '/error/details': [] }),
    unavailable: video('submit-unavailable'),
    broken: video('submit-failed'),
  },
  policyRefusal: () => video('submit-content-policy'),
  fieldErrors,
  exampleFieldError: { loc: ['parameters', 'durationSeconds'], msg: 'must be 4, 6 or 8', type: 'invalid' },
  calls: [
    {
      listener: 'api',
      method: 'POST',
      path: `${models}/:model([^:/]+)::fetchPredictOperation`,
      role: 'poll',
      idOf: ({ body }) => String(body['operationName']).split('/').at(-1) ?? '',
      answer: operationOf,
      unknown: () => video('poll-lost'),
    },
  ],
  cancel: null,
  asset: null,
};

function submitTo(method: string, answer: PartnerSubmit['answer']): PartnerSubmit {
  return {
    path: `${models}/:model([^:/]+)::${method}`,
    modelOf: (params) => params['model'],
    prompt: { loc: ['instances', 0, 'prompt'], read: (body) => firstOf(body['instances'])['prompt'] },
    answer,
  };
}

const firstOf = (list: unknown): Record<string, unknown> => Object(Array.isArray(list) ? list[0] : undefined);

const textOf = (contents: unknown): unknown => {
  const { parts } = firstOf(contents);
  return (Array.isArray(parts) ? parts : []).map((part) => Object(part)['text']).find(Boolean);
};

function fieldErrors(errors: FieldError[]): Reply {
  const fieldViolations = errors.map(({ loc, msg }) => ({ field: loc.join('.'), description: msg }));
  return video('submit-rejected-fields', {
    '/error/details': [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }],
  });
}

const nameOf = ({ generation: { id, model } }: View): string =>
  `projects/p/locations/us-central1/publishers/google/models/${model}/operations/${id}`;

function operationOf(view: View): Reply {
  const about = { '/name': nameOf(view) };
  const storage = /"storageUri"\s*:\s*"([^"]+)"/.exec(view.generation.body.toString())?.[1];
  const clip =
    storage === undefined
      ? { bytesBase64Encoded: fileOf(view.generation, '0.mp4').bytes.toString('base64') }
      : { gcsUri: `${storage}${view.generation.id}/sample_0.mp4` };
  return momentOf(view, {
    queued: () => video('poll-running', about),
    running: () => video('poll-running', about),
    unknown: () => video('poll-unknown-word', about),
    failed: (failure) => failures[failure],
    empty: () => video('poll-succeeded-without-result', about),
    succeeded: () =>
      video('poll-succeeded', { ...about, '/response/videos': [{ ...clip, mimeType: 'video/mp4' }] }),
  });
}

function refusalOf({ control }: View): Reply | undefined {
  switch (failureOf(control)) {
    case 'policy_submit':
      return picture('submit-content-policy');
    case 'policy_output':
      return picture('submit-content-policy-of-output');
    case 'field_output':
      return video('submit-rejected-fields');
    case 'job_failed':
      return video('submit-failed');
    case null:
      return undefined;
  }
}

const base64Of = ({ generation }: View): string => fileOf(generation, '0.png').bytes.toString('base64');

function gemini(view: View): Reply {
  if (view.control.has('no_asset')) return picture('submit-without-result');
  const data = { '/candidates/0/content/parts/1/inlineData/data': base64Of(view) };
  return refusalOf(view) ?? picture('submit-accepted', data);
}

function imagen(view: View): Reply {
  if (view.control.has('no_asset')) return picture('submit-accepted-imagen', { '/predictions': [] });
  if (view.control.has('policy_output')) return picture('submit-content-policy-imagen');
  const data = { '/predictions/0/bytesBase64Encoded': base64Of(view) };
  return refusalOf(view) ?? picture('submit-accepted-imagen', data);
}
