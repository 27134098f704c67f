import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

/** `status` is what older replies name the code. */
const where = ['/detail/code', '/detail/status'] as const;

/** ElevenLabs: the audio itself is the reply. A voice is part of the address, so each has rows of its own. */
export const elevenlabs: ProviderDefinition = {
  name: 'elevenlabs',
  defaultBase: 'https://api.elevenlabs.io/v1',
  submitTimeoutMs: 300_000,
  create: (base) =>
    job({
      base,
      auth: (secret) => ({ 'xi-api-key': secret }),
      submit: { headers: () => ({ accept: 'audio/*' }) },
      files: true,
      // A JSON reply with 200 is not audio.
      resultAt: [],
      fields: sentenceFields({ msg: '/detail/message', type: where, field: '/detail/param' }),
      rules: [
        { http: 'error', where, is: /policy|moderation/i, class: 'content_policy' },
        // Both stand in the row.
        { http: 'error', where, is: /^((voice|model)_not_found|unsupported_model)$/, class: 'model_gone' },
        // With 404, as if the model was: a dictionary that the input names, and the like.
        { http: 'error', where, is: /_not_found$/, class: 'rejected_input' },
        {
          http: 'error',
          where,
          is: /^(quota_exceeded|insufficient_credits|invalid_api_key|detected_unusual_activity)$/,
          class: 'partner_account',
        },
      ],
    }),
};
