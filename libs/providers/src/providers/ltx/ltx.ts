import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

/** LTX: the reply to the submission is the video itself, after minutes. */
export const ltx: ProviderDefinition = {
  name: 'ltx',
  defaultBase: 'https://api.ltx.video/v1',
  submitTimeoutMs: 540_000,
  create: (base) =>
    job({
      base,
      submit: { headers: () => ({ accept: '*/*' }) },
      files: true,
      // Only the file is a result, no JSON is.
      resultAt: [],
      fields: sentenceFields({ msg: '/error/message', type: '/error/type' }),
      rules: [{ where: '/error/type', is: /^content_filtered/, class: 'content_policy' }],
    }),
};
