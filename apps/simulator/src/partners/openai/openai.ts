import { fileOf } from '../../files/file.js';
import { bearer } from '../../keys.js';
import { failureOf } from '../../ledger/generation.js';
import type { FieldError, Partner, PartnerSubmit, Reply, View } from '../../partner.js';
import { recorded } from '../../said.js';

const images = recorded('openai', 'images');
const speech = recorded('openai', 'speech');

const submitTo = (path: string, prompt: string, result: (view: View) => Reply): PartnerSubmit => ({
  path,
  atOnce: true,
  modelOf: (_params, body) => (typeof body['model'] === 'string' ? body['model'] : undefined),
  prompt: { loc: [prompt], read: (body) => body[prompt] },
  answer: (view) => failed(view) ?? result(view),
});

/** OpenAI: the reply to the submission is the picture in base64, or the sound. */
export const openai: Partner = {
  name: 'openai',
  authorized: bearer,
  submits: [submitTo('/images/generations', 'prompt', pictures), submitTo('/audio/speech', 'input', sound)],
  refusals: {
    unauthorized: images('submit-account'),
    no_credit: images('submit-no-credit'),
    throttled: images('submit-busy'),
    unavailable: images('submit-unavailable'),
    broken: images('submit-failed'),
  },
  policyRefusal: () => images('submit-content-policy'),
  fieldErrors,
  exampleFieldError: { loc: ['size'], msg: "Invalid value: '1x1'.", type: 'invalid_value' },
  calls: [],
  cancel: null,
  asset: null,
};

function fieldErrors([first]: FieldError[]): Reply {
  return images('submit-rejected-fields', {
    '/error/message': first?.msg,
    '/error/code': first?.type,
    '/error/param': first?.loc.join('.') ?? null,
  });
}

function failed({ control }: View): Reply | undefined {
  switch (failureOf(control)) {
    case 'policy_submit':
    case 'policy_output':
      return images('submit-content-policy');
    case 'field_output':
      return images('submit-rejected-fields');
    case 'job_failed':
      return images('submit-failed');
    case null:
      return undefined;
  }
}

function pictures({ generation, control }: View): Reply {
  if (control.has('no_asset')) return images('submit-without-result');
  const data = [{ b64_json: fileOf(generation, '0.png').bytes.toString('base64') }];
  return images('submit-accepted', { '/created': Math.floor(generation.atMs / 1000), '/data': data });
}

function sound({ generation, control }: View): Reply {
  if (control.has('no_asset')) return speech('submit-without-result');
  const { type, bytes } = fileOf(generation, '0.mp3');
  return { status: 200, headers: { 'content-type': type }, body: bytes };
}
