import type { ProviderDefinition } from '../../contract.js';
import { references, settled } from '../../encodings.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';
import { protocols } from '../../protocols.js';
import type { Rule } from '../../rules.js';

const text = '/output/*/content/*/text';
const policy = /policy|^moderation_blocked$|^invalid_prompt$/;

/** A response that has ended without an answer is a success by its status. */
const textRules: readonly Rule[] = [
  { http: 200, where: '/error/code', is: policy, class: 'content_policy' },
  { http: 200, where: '/error/code', is: /image/, class: 'rejected_input' },
  { http: 200, where: '/status', is: /^(failed|cancelled)$/, class: 'partner_failed' },
  {
    http: 200,
    where: '/incomplete_details/reason',
    is: 'content_filter',
    unless: text,
    class: 'content_policy',
  },
  { http: 200, where: '/output/*/content/*/refusal', unless: text, class: 'content_policy' },
];

const errorRules: readonly Rule[] = [
  { http: 'error', where: '/error/code', is: policy, class: 'content_policy' },
  {
    http: 'error',
    where: '/error/code',
    is: /^(insufficient_quota|billing_hard_limit_reached|billing_not_active)$/,
    class: 'partner_account',
  },
];

/** OpenAI's images, speech and text: the reply to the submission is the result, JSON or the audio itself. */
export const openai: ProviderDefinition = {
  name: 'openai',
  defaultBase: 'https://api.openai.com/v1',
  submitTimeoutMs: 540_000,
  create(base) {
    const common = {
      base,
      fields: sentenceFields({
        msg: '/error/message',
        type: ['/error/code', '/error/type'],
        field: '/error/param',
      }),
    };
    // "The engine is currently overloaded, please try again later."
    const refusals = [503];
    return protocols({
      media: job({
        ...common,
        submit: {
          headers: () => ({ accept: '*/*' }),
          refusals,
          // One model draws and changes images; the body of an edit names its media in another way.
          variant: {
            members: ['image', 'images', 'mask'],
            url: ({ upstream }) =>
              upstream['path'] === 'images/generations' ? `${base}/images/edits` : undefined,
            encode: references('image_url', { image: { as: 'images', list: true }, mask: { as: 'mask' } }),
          },
        },
        files: true,
        resultAt: ['/data/*/b64_json', '/data/*/url'],
        rules: errorRules,
      }),
      text: job({
        ...common,
        submit: { refusals, encode: settled(['stream', 'background']) },
        resultAt: ['/output'],
        rules: [...textRules, ...errorRules],
      }),
    });
  },
};
