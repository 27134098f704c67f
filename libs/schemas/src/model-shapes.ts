import { z } from 'zod';
import { routerModelId, routerModelSegment, routerPageCursor, routerProviderSegment } from './identifiers.js';

/** Whether a content-policy refusal is charged. A client treats a value it does not know as charged. */
export const routerChargesOnPolicyRejection = z.enum(['yes', 'no', 'unknown']).meta({
  id: 'RouterChargesOnPolicyRejection',
  description: 'Whether a content-policy refusal is charged for this model.',
});

export const routerModelBilling = z
  .object({ charges_on_policy_rejection: routerChargesOnPolicyRejection })
  .meta({ id: 'RouterModelBilling', description: 'Billing facts; no prices and no usage figures.' });

const listEntryFields = {
  id: routerModelId,
  provider: routerProviderSegment,
  model: routerModelSegment,
  billing: routerModelBilling,
};

/** One runnable model, as lists carry it. */
export const routerModelListEntry = z
  .object(listEntryFields)
  .meta({ id: 'RouterModelListEntry', description: 'One runnable model and its billing facts.' });

/** A list entry plus the address of the input schema, which is absent when no schema is authored. */
export const routerModelDetail = z
  .object({
    ...listEntryFields,
    input_schema_url: z
      .url()
      .regex(/^https:\/\//)
      .max(2048)
      .optional()
      .meta({ description: 'Where the input schema document of the model is.' }),
  })
  .meta({ id: 'RouterModelDetail', description: 'The catalog entry of one model.' });

/** One page of the catalog. A short or empty `data` is not the end: only `has_more` says so. */
export const routerModelListResponse = z
  .object({
    data: z.array(routerModelListEntry).meta({ description: 'At most `limit` entries, ordered by id.' }),
    has_more: z.boolean().meta({ description: 'True while further pages exist.' }),
    next_cursor: routerPageCursor.optional(),
    limit: z.int().min(1).max(100).meta({ description: 'The page size actually served.' }),
  })
  .meta({ id: 'RouterModelListResponse', description: 'One page of the catalog.' });

const openObject = () => z.record(z.string(), z.unknown());

export const routerModelInput = openObject().meta({
  id: 'RouterModelInput',
  description:
    'The partner model’s own input, forwarded byte for byte. Its fields are in the model’s document.',
});

export const routerModelOutput = openObject().meta({
  id: 'RouterModelOutput',
  description: 'The partner model’s own output, byte for byte; only the URLs of copied assets are replaced.',
});

export const routerModelInputSchemaDocument = openObject().meta({
  id: 'RouterModelInputSchemaDocument',
  description:
    'A standalone OpenAPI 3.1 document of one model. Its marker `x-service-input-schema-authored` says whether the model’s input is described.',
});

export type RouterChargesOnPolicyRejection = z.infer<typeof routerChargesOnPolicyRejection>;
export type RouterModelBilling = z.infer<typeof routerModelBilling>;
export type RouterModelListEntry = z.infer<typeof routerModelListEntry>;
export type RouterModelDetail = z.infer<typeof routerModelDetail>;
export type RouterModelListResponse = z.infer<typeof routerModelListResponse>;
