import { fileOf } from '../../files/file.js';
import { keyIn } from '../../keys.js';
import { failureOf } from '../../ledger/generation.js';
import type { Partner, PartnerSubmit, Reply, View } from '../../partner.js';
import { recorded } from '../../said.js';

const said = recorded('elevenlabs');

const submitTo = (path: string, field: string): PartnerSubmit => ({
  path: `/${path}`,
  atOnce: true,
  modelOf: (params) => params['voice'] ?? path,
  prompt: { loc: ['body', field], read: (body) => body[field] },
  answer: sound,
});

/** ElevenLabs: the voice stands in the address, the sound is the reply. */
export const elevenlabs: Partner = {
  name: 'elevenlabs',
  authorized: keyIn('xi-api-key'),
  submits: [
    submitTo('text-to-speech/:voice', 'text'),
    submitTo('sound-generation', 'text'),
    submitTo('music', 'prompt'),
  ],
  refusals: {
    unauthorized: said('submit-account'),
    no_credit: said('submit-no-credit'),
    throttled: said('submit-busy'),
    unavailable: said('submit-unavailable'),
    broken: said('submit-failed'),
  },
  policyRefusal: () => said('submit-content-policy'),
  fieldErrors: (errors) => said('submit-rejected-fields', { '/detail': errors }),
  exampleFieldError: {
    loc: ['body', 'voice_settings', 'stability'],
    msg: 'Input should be less than or equal to 1',
    type: 'less_than_equal',
    input: 2,
    ctx: { le: 1 },
  },
  calls: [],
  cancel: null,
  asset: null,
};

function sound({ generation, control }: View): Reply {
  switch (failureOf(control)) {
    case 'policy_submit':
    case 'policy_output':
      return said('submit-content-policy');
    case 'field_output':
      return said('submit-rejected-fields');
    case 'job_failed':
      return said('submit-failed');
    case null: {
      if (control.has('no_asset')) return said('submit-without-result');
      const { type, bytes } = fileOf(generation, '0.mp3');
      return { status: 200, headers: { 'content-type': type, 'character-cost': '12' }, body: bytes };
    }
  }
}
