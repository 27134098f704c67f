import type { ProviderDefinition } from '../../contract.js';
import { references, settled } from '../../encodings.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';
import { protocols } from '../../protocols.js';
import { policyCode, responses } from '../../responses.js';
import type { Rule } from '../../rules.js';

const errorRules: readonly Rule[] = [
  { http: 'error', where: '/error/code', is: policyCode, class: 'content_policy' },
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
            encode: settled(
              ['stream'],
              references('image_url', { image: { as: 'images', list: true }, mask: { as: 'mask' } }),
            ),
          },
          encode: settled(['stream']),
        },
        files: true,
        resultAt: ['/data/*/b64_json', '/data/*/url'],
        rules: errorRules,
      }),
      text: job({
        ...common,
        submit: { refusals, encode: responses.encode },
        resultAt: responses.resultAt,
        rules: [...responses.rules, ...errorRules],
      }),
    });
  },
};
