import { z } from 'zod';
import { text } from './fields.js';

export const serviceHealth = z
  .object({
    status: z.enum(['ready', 'not_ready']).describe('The result of the readiness probe.'),
    reason: text('Why the gateway is not ready, if an operator must fix it.').optional(),
    version: text('The version of the release.'),
    revision: text('The git commit of the build, or `unknown`.'),
    built_at: text('The time of that commit, or `unknown`.'),
  })
  .meta({ id: 'ServiceHealth', description: 'The health of a gateway, and the release that it runs.' });
