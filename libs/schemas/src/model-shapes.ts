import { z } from 'zod';
import { pageOf, text } from './fields.js';
import { routerModelId, routerModelSegment, routerProviderSegment } from './identifiers.js';

/** Whether a content-policy refusal is charged. A client treats a value it does not know as charged. */
export const routerChargesOnPolicyRejection = z.enum(['yes', 'no', 'unknown']).meta({
  id: 'RouterChargesOnPolicyRejection',
  description: 'Whether a content-policy refusal is charged for this model.',
});

const routerModelBilling = z
  .object({ charges_on_policy_rejection: routerChargesOnPolicyRejection })
  .meta({ id: 'RouterModelBilling', description: 'Billing facts; no prices and no usage figures.' });

/** One runnable model, as lists carry it. */
export const routerModelListEntry = z
  .object({
    id: routerModelId,
    provider: routerProviderSegment,
    model: routerModelSegment,
    billing: routerModelBilling,
  })
  .meta({ id: 'RouterModelListEntry', description: 'One runnable model and its billing facts.' });

/** A list entry plus the address of the input schema, which is absent when no schema is authored. */
export const routerModelDetail = routerModelListEntry
  .extend({
    input_schema_url: z
      .url()
      .regex(/^https:\/\//)
      .max(2048)
      .optional()
      .describe('Where the input schema document of the model is.'),
  })
  .meta({ id: 'RouterModelDetail', description: 'The catalog entry of one model.' });

/** One page of the catalog. A short or empty `data` is not the end: only `has_more` says so. */
export const routerModelListResponse = pageOf(
  routerModelListEntry,
  'At most `limit` entries, ordered by id.',
  { id: 'RouterModelListResponse', description: 'One page of the catalog.' },
);

/** What a model takes and gives. */
export const routerModality = z.enum(['text', 'image', 'video', 'audio', '3d']).meta({
  id: 'RouterModality',
  description: 'A kind of content.',
});

/** A list entry with what people want to know besides. */
const routerModelFullEntry = routerModelListEntry
  .extend({
    title: text('The name that people know it by.').optional(),
    description: text('One sentence.').optional(),
    input_modalities: z.array(routerModality).describe('What the input may hold.'),
    output_modalities: z.array(routerModality).describe('What the result holds.'),
    price: z
      .object({
        from_usd: z.number().min(0).describe('Dollars a unit, at the cheapest options.'),
        unit: text('What is counted: fields of the input, or the run.'),
        text: text('The whole expression.'),
        date: z.iso.date().optional().describe('When it was read.'),
      })
      .describe('What a run costs.'),
    lifecycle: z
      .object({ ends: z.iso.date(), successor: routerModelId.optional() })
      .optional()
      .describe('From which day it is gone, and what to use then; only when that is known.'),
    aliases: z.array(z.string()).describe('Other names of it.'),
    servers: z
      .array(routerProviderSegment)
      .describe('Who may serve it, its own provider first: what `model_provider` of a run may be.'),
    example_output: z.unknown().optional().describe('A result, where the catalog has one.'),
  })
  .meta({ id: 'RouterModelFullEntry', description: 'One runnable model with the facts for people.' });

export const routerModelFullListResponse = pageOf(
  routerModelFullEntry,
  'At most `limit` entries, ordered by id.',
  { id: 'RouterModelFullListResponse', description: 'One page of the catalog, in full.' },
);

/** What the list of v2 answers, by its `view`. */
export const routerModelPage = z.union([routerModelListResponse, routerModelFullListResponse]).meta({
  id: 'RouterModelPage',
  description: 'One page of the catalog, in full where `view=full` asks for it.',
});

const openObject = () => z.record(z.string(), z.unknown());

export const routerModelInput = openObject().meta({
  id: 'RouterModelInput',
  description: 'The model’s own input, forwarded byte for byte. Its fields are in the model’s document.',
});

export const routerModelOutput = openObject().meta({
  id: 'RouterModelOutput',
  description: 'The model’s own output, byte for byte; only the URLs of copied assets are replaced.',
});

export const routerModelInputSchemaDocument = openObject().meta({
  id: 'RouterModelInputSchemaDocument',
  description:
    'A standalone OpenAPI 3.1 document of one model. Its marker `x-service-input-schema-authored` says whether the model’s input is described.',
});

export type RouterChargesOnPolicyRejection = z.infer<typeof routerChargesOnPolicyRejection>;
export type RouterModelListEntry = z.infer<typeof routerModelListEntry>;
export type RouterModelFullEntry = z.infer<typeof routerModelFullEntry>;
export type RouterModelDetail = z.infer<typeof routerModelDetail>;
