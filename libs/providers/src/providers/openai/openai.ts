import type { ProviderDefinition } from '../../contract.js';
import { references } from '../../encodings.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

/** OpenAI's images and speech: the reply to the submission is the result, JSON or the audio itself. */
export const openai: ProviderDefinition = {
  name: 'openai',
  defaultBase: 'https://api.openai.com/v1',
  submitTimeoutMs: 300_000,
  create: (base) =>
    job({
      base,
      submit: {
        headers: () => ({ accept: '*/*' }),
        // "The engine is currently overloaded, please try again later."
        refusals: [503],
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
      fields: sentenceFields({
        msg: '/error/message',
        type: ['/error/code', '/error/type'],
        field: '/error/param',
      }),
      rules: [
        {
          http: 'error',
          where: '/error/code',
          is: /^(moderation_blocked|content_policy_violation)$/,
          class: 'content_policy',
        },
        {
          http: 'error',
          where: '/error/code',
          is: /^(insufficient_quota|billing_hard_limit_reached|billing_not_active)$/,
          class: 'partner_account',
        },
      ],
    }),
};
