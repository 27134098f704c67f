import { z } from 'zod';
import { pageOf, simulated, text } from './fields.js';
import { routerModelId, routerModelSegment, routerProviderSegment } from './identifiers.js';

/** Whether runs rejected by the content policy are billed. Clients treat unknown values as billed. */
export const routerChargesOnPolicyRejection = z.enum(['yes', 'no', 'unknown']).meta({
  id: 'RouterChargesOnPolicyRejection',
  description: 'Whether the provider bills runs of this model that it rejects under its content policy.',
});

const routerModelBilling = z
  .object({ charges_on_policy_rejection: routerChargesOnPolicyRejection })
  .meta({ id: 'RouterModelBilling', description: 'Facts about billing, without prices and usage.' });

/** A model in a list. */
export const routerModelListEntry = z
  .object({
    id: routerModelId,
    provider: routerProviderSegment,
    model: routerModelSegment,
    billing: routerModelBilling,
  })
  .meta({ id: 'RouterModelListEntry', description: 'A model and its billing facts.' });

/** A list entry with the URL of the input schema, which is absent if the model has no schema. */
export const routerModelDetail = routerModelListEntry
  .extend({
    input_schema_url: z
      .url()
      .regex(/^https:\/\//)
      .max(2048)
      .optional()
      .describe('The URL of the document with the input schema of the model.'),
  })
  .meta({ id: 'RouterModelDetail', description: 'The catalog entry of one model.' });

/** One page of the catalog. A short or empty `data` does not mean the end; only `has_more` does. */
export const routerModelListResponse = pageOf(
  routerModelListEntry,
  'At most `limit` models, ordered by id.',
  { id: 'RouterModelListResponse', description: 'One page of the catalog.' },
);

/** A kind of input or output. */
export const routerModality = z.enum(['text', 'image', 'video', 'audio', '3d', 'embedding']).meta({
  id: 'RouterModality',
  description: 'A kind of content.',
});

/** A task of a model. */
export const routerTask = z
  .enum([
    'text-to-image',
    'edit',
    'upscale',
    'text-to-video',
    'image-to-video',
    'video-edit',
    'lip-sync',
    'speech',
    'transcription',
    'music',
    '3d',
    'text',
    'embedding',
  ])
  .meta({ id: 'RouterTask', description: 'What a model does.' });
export type RouterTask = z.infer<typeof routerTask>;

const routerModelPrice = z.object({
  from_usd: z.number().min(0).describe('The price of one unit with the cheapest options, in US dollars.'),
  unit: text('The unit: fields of the input, or `run`.'),
  text: text('The complete price as a formula.'),
});

/** A list entry with more facts for people. */
const routerModelFullEntry = routerModelListEntry
  .extend({
    title: text('The display name.').optional(),
    description: text('One sentence about the model.').optional(),
    input_modalities: z.array(routerModality).describe('The kinds of content in the input.'),
    output_modalities: z.array(routerModality).describe('The kinds of content in the result.'),
    tasks: z
      .array(routerTask)
      .describe('What the model does, derived from its modalities and its name. Empty if unknown.'),
    price: routerModelPrice
      .extend({
        date: z.iso.date().optional().describe('The day on which the price was read.'),
        next: routerModelPrice
          .extend({ from: z.iso.date().describe('Its first day (UTC).') })
          .optional()
          .describe('The price that follows. Absent if no change is announced.'),
      })
      .describe('The price of a run. A run keeps the price of its admission.'),
    added: z.iso
      .date()
      .optional()
      .describe('The day on which the model was added to the catalog. Absent if it is not known.'),
    lifecycle: z
      .object({ ends: z.iso.date(), successor: routerModelId.optional() })
      .optional()
      .describe('The first day (UTC) without the model, and its successor. Absent if no end is announced.'),
    aliases: z.array(z.string()).describe('Other names of the model.'),
    servers: z
      .array(routerProviderSegment)
      .describe(
        'The providers that can serve the model, its own first. These are the values of `model_provider`.',
      ),
    measured: z
      .object({
        median_seconds: z
          .number()
          .min(0)
          .optional()
          .describe(
            'The median time of a run that succeeded, from its dispatch to the provider to its end, within 10%. Absent if none did.',
          ),
        success_share: z
          .number()
          .min(0)
          .max(1)
          .describe(
            'The share of runs that succeeded, rounded down to a hundredth. Failures of the provider count, rejected inputs and cancelled runs do not.',
          ),
        runs: z.int().min(0).describe('The number of these runs, rounded down to two digits.'),
        days: z.int().min(1).describe('How many days the runs are from, up to today: 7 or 30.'),
      })
      .optional()
      .describe(
        'What the runs of all workspaces show, without simulated ones. Absent if there are fewer than 50 in 30 days, or from fewer than three workspaces.',
      ),
    simulated: simulated.optional(),
    example_output: z.unknown().optional().describe('An example of a result, if the catalog has one.'),
  })
  .meta({ id: 'RouterModelFullEntry', description: 'A model with its facts for people.' });

export const routerModelFullListResponse = pageOf(
  routerModelFullEntry,
  'At most `limit` models, ordered by id.',
  { id: 'RouterModelFullListResponse', description: 'One page of the catalog with all facts.' },
);

/** The response of the v2 model list, depending on `view`. */
export const routerModelPage = z.union([routerModelListResponse, routerModelFullListResponse]).meta({
  id: 'RouterModelPage',
  description: 'One page of the catalog. With `view=full`, each model has all facts.',
});

const openObject = () => z.record(z.string(), z.unknown());

export const routerModelInput = openObject().meta({
  id: 'RouterModelInput',
  description: 'The input of the model, forwarded unchanged. The document of the model lists its fields.',
});

export const routerModelOutput = openObject().meta({
  id: 'RouterModelOutput',
  description: 'The output of the provider, unchanged except for the URLs of copied assets.',
});

export const routerModelInputSchemaDocument = openObject().meta({
  id: 'RouterModelInputSchemaDocument',
  description:
    'A standalone OpenAPI 3.1 document of one model. `x-service-input-schema-authored` tells whether it describes the input.',
});

export type RouterChargesOnPolicyRejection = z.infer<typeof routerChargesOnPolicyRejection>;
export type RouterModelListEntry = z.infer<typeof routerModelListEntry>;
export type RouterModelFullEntry = z.infer<typeof routerModelFullEntry>;
export type RouterModelDetail = z.infer<typeof routerModelDetail>;
