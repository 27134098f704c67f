import { z } from 'zod';
import { count, moment, simulated, text } from './fields.js';
import { routerModelId } from './identifiers.js';

export const routerShare = z
  .object({
    url: z.url().describe('The page that shows the run. Anyone with the URL may open it.'),
    token: text('The last segment of the URL, for `GET /v2/shared/{token}`.'),
  })
  .meta({ id: 'RouterShare', description: 'The link of a shared run.' });

export type RouterShare = z.infer<typeof routerShare>;

/** A link shows these facts besides the input and the output: neither cost, key, tags nor end user. */
export const routerSharedRun = z
  .object({
    model: routerModelId,
    title: text('The display name of the model.').optional(),
    output_modalities: z.array(z.string()).describe('What the model makes, such as `image`.'),
    simulated: simulated.optional(),
    created_at: moment('When the run was admitted.'),
    duration_ms: count('The time from admission to outcome, in milliseconds.'),
    expires_at: moment('When the link ends with the result. Absent for a run that is kept.').optional(),
  })
  .meta({ id: 'RouterSharedRun', description: 'A run that its workspace shares.' });

export type RouterSharedRun = z.infer<typeof routerSharedRun>;

export const routerSampleList = z
  .object({
    data: z.array(
      z.object({
        token: text('The credential for `GET /v2/shared/{token}`, which shows the sample.'),
        pinned_at: moment('When an operator pinned it.'),
      }),
    ),
  })
  .meta({ id: 'RouterSampleList', description: 'The samples of a model, newest first.' });

export type RouterSampleList = z.infer<typeof routerSampleList>;
