import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

/** Ideogram: images at once. An unsafe one is left out of a success; a refused prompt is a 422 without fields. */
export const ideogram: ProviderDefinition = {
  name: 'ideogram',
  defaultBase: 'https://api.ideogram.ai',
  submitTimeoutMs: 180_000,
  create: (base) =>
    job({
      base,
      auth: (secret) => ({ 'api-key': secret }),
      resultAt: ['/data/*/url'],
      fields: sentenceFields({ msg: '/error' }),
      rules: [
        { http: 422, where: '/error', is: /safety check/i, class: 'content_policy' },
        {
          http: 200,
          where: '/data/*/is_image_safe',
          is: false,
          unless: '/data/*/url',
          class: 'content_policy',
        },
      ],
    }),
};
