import type { ProviderDefinition } from '../../contract.js';
import { sentenceFields } from '../../fields.js';
import { job } from '../../job.js';

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
      fields: sentenceFields({ msg: '/detail/message', type: '/detail/status' }),
      rules: [
        { http: 'error', where: '/detail/status', is: /policy|moderation/i, class: 'content_policy' },
        { http: 'error', where: '/detail/status', is: 'voice_not_found', class: 'model_gone' },
        {
          http: 'error',
          where: '/detail/status',
          is: /^(quota_exceeded|invalid_api_key|detected_unusual_activity)$/,
          class: 'partner_account',
        },
      ],
    }),
};
