import { createHash } from 'node:crypto';
import { endOf, type Generation } from '../ledger/generation.js';
import { keyIn, type Provider } from '../provider.js';

/** Polls go to another host. Signed links to files expire after ten minutes. */
export const bfl: Provider = {
  name: 'bfl',
  authorized: keyIn('x-key'),
  protocols: [
    {
      submits: ['', 'flux-tools/'].map((folder) => ({
        path: `/v1/${folder}:model`,
        modelOf: (params) => params['model'],
        promptOptional: (model) => /^(flux-(dev|pro-1|3-video)|erase|video-upscale)/.test(model),
      })),
      pollsElsewhere: true,
      poll: { path: '/v1/get_result' },
      bareIds: true,
      variantOf: ({ generation }) => (/video/.test(generation.model) ? '-video' : ''),
    },
  ],
  links: {
    queryOf: (generation) =>
      new URLSearchParams({
        se: new Date(expiryOf(generation)).toISOString(),
        sig: signatureOf(generation),
      }).toString(),
    accepts: (generation, query, nowMs) =>
      nowMs < expiryOf(generation) && query['sig'] === signatureOf(generation),
  },
};

const linkLifeMs = 10 * 60_000;
const expiryOf = (generation: Generation) => endOf(generation) + linkLifeMs;
const signatureOf = (generation: Generation) =>
  createHash('sha256')
    .update(`${generation.id} ${expiryOf(generation)}`)
    .digest('base64url');
