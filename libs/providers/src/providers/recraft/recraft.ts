import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

/** Recraft: the reply to the submission is the result. Errors are JSON or a line of plain text. */
export const recraft: ProviderDefinition = {
  name: 'recraft',
  defaultBase: 'https://external.api.recraft.ai/v1',
  submitTimeoutMs: 180_000,
  create: (base) =>
    job({
      base,
      resultAt: ['/data/*/url', '/data/*/b64_json', '/image/url', '/image/b64_json'],
      fields: sentenceFields({ msg: '/message', type: '/code' }),
      rules: [{ where: '/code', is: /credit/, class: 'partner_account' }],
    }),
};
