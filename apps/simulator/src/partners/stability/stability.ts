import { fileOf } from '../../files/file.js';
import { bearer } from '../../keys.js';
import { failureOf } from '../../ledger/generation.js';
import { momentOf } from '../../moments.js';
import type { FieldError, Partner, PartnerSubmit, Reply, View } from '../../partner.js';
import { recorded } from '../../said.js';

const now = recorded('stability', 'now');
const later = recorded('stability', 'later');

const submitTo = (path: string): PartnerSubmit => ({
  path,
  form: true,
  modelOf: (params) => params['model'] ?? 'creative',
  // An edit may come without one.
  prompt: { loc: ['prompt'], read: (body) => body['prompt'], optionalFor: () => !path.includes('generate') },
  answer: (view) => later('submit-accepted', { '/id': view.generation.id }),
});

/** Stability: forms only; a file for a reply, or an id for what takes long. */
export const stability: Partner = {
  name: 'stability',
  authorized: bearer,
  submits: [
    ...['generate', 'edit', 'control'].map((kind): PartnerSubmit => ({
      ...submitTo(`/stable-image/${kind}/:model`),
      atOnce: true,
      answer: file,
    })),
    { ...submitTo('/stable-image/upscale/:model'), atOnce: true, answer: file },
    submitTo('/stable-image/upscale/creative'),
  ],
  refusals: {
    unauthorized: now('submit-account'),
    no_credit: now('submit-no-credit'),
    throttled: now('submit-busy'),
    unavailable: now('submit-unavailable'),
    broken: now('submit-failed'),
  },
  policyRefusal: () => now('submit-content-policy'),
  fieldErrors,
  exampleFieldError: { loc: ['seed'], msg: 'must be between 0 and 4294967294', type: 'bad_request' },
  calls: [
    {
      listener: 'api',
      method: 'GET',
      path: '/results/:id',
      role: 'poll',
      answer: resultOf,
      unknown: () => later('poll-lost'),
    },
  ],
  cancel: null,
  asset: null,
};

function fieldErrors(errors: FieldError[]): Reply {
  const lines = errors.map(({ loc, msg }) => (loc.length > 0 ? `${loc.join('.')}: ${msg}` : msg));
  return now('submit-rejected-fields', { '/errors': lines });
}

function picture({ generation }: View, finish: 'SUCCESS' | 'CONTENT_FILTERED'): Reply {
  const { type, bytes } = fileOf(generation, '0.png');
  return { status: 200, headers: { 'content-type': type, 'finish-reason': finish, seed: '7' }, body: bytes };
}

function failed(view: View): Reply | undefined {
  switch (failureOf(view.control)) {
    case 'policy_submit':
    case 'policy_output':
      return picture(view, 'CONTENT_FILTERED');
    case 'field_output':
      return now('submit-rejected-fields');
    case 'job_failed':
      return now('submit-failed');
    case null:
      return undefined;
  }
}

function file(view: View): Reply {
  const empty = view.control.has('no_asset');
  return failed(view) ?? (empty ? now('submit-without-result') : picture(view, 'SUCCESS'));
}

function resultOf(view: View): Reply {
  const about = { '/id': view.generation.id };
  return momentOf(view, {
    queued: () => later('poll-running', about),
    running: () => later('poll-running', about),
    unknown: () => later('poll-running', { ...about, '/status': 'warming-up' }),
    // A job that broke leaves nothing to ask for; a 500 would only say that the question failed.
    failed: () =>
      view.control.has('job_failed') ? later('poll-lost') : (failed(view) ?? later('poll-lost')),
    empty: () => later('poll-succeeded-without-result'),
    succeeded: () => picture(view, 'SUCCESS'),
  });
}
