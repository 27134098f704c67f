import { z } from 'zod';
import {
  routerModality,
  routerChargesOnPolicyRejection,
  routerModelId,
  routerModelSegment,
  routerProviderSegment,
} from '#schemas';
import { price } from './price.js';

const modalities = z.array(routerModality).min(1);

const constantValue = z.union([z.string(), z.number(), z.boolean()]);
export type ConstantValue = z.infer<typeof constantValue>;

const id = routerModelId.describe('The provider and the model, joined by a slash: acme/paint-2.');
const alias = z
  .string()
  .regex(/^[a-z0-9]+([._-][a-z0-9]+)*(\/[a-z0-9]+([._-][a-z0-9]+)*){1,5}$/)
  .max(193);
const aliases = z
  .array(alias)
  .default([])
  .describe(
    'Other names of the model, each unique in the catalog. A name of two segments works on every route; a longer name is only suggested.',
  );
const successor = routerModelId
  .optional()
  .describe('The id of the model to use instead. After the end, callers get it as the first suggestion.');

const inputValue = z.record(z.string(), z.json());
const pointer = z.string().regex(/^(\/[^/]+)+$/, 'a JSON pointer such as /images/*/url');

const anySchema = z.unknown().meta({
  $ref: 'https://json-schema.org/draft/2020-12/schema',
  description:
    'JSON Schema 2020-12, or the dialect of OpenAPI 3.0 or 3.1. It may refer to a JSON file in the same directory.',
});

/** One YAML file of a catalog directory, field by field; unknown fields are problems. */
export const modelRow = z
  .strictObject({
    id,
    aliases,
    provider: routerProviderSegment
      .optional()
      .describe('The provider that serves the model. Left out, the first segment of the id.'),
    title: z.string().min(1).max(100).optional().describe('The display name.'),
    description: z.string().min(1).max(300).optional().describe('One sentence about the model.'),
    modalities: z
      .strictObject({
        in: modalities.describe('Kinds of input.'),
        out: modalities.describe('Kinds of output.'),
      })
      .optional()
      .describe('The kinds of content that the model takes and makes.'),
    ends: z.iso
      .date()
      .optional()
      .describe(
        'The first day, in UTC, without the model: lists leave it out and runs answer 404. Documents and `admin catalog check` announce the day from 30 days before.',
      ),
    successor,
    servers: z
      .array(routerModelId)
      .default([])
      .describe(
        'Ids of rows by which other providers serve the same model, each with its own input and price. Callers select one by the first segment of its id.',
      ),
    upstream: z
      .object({
        path: z.string().min(1).describe('The path of the model, or what the provider uses instead.'),
      })
      .catchall(z.string())
      .describe('The address at the provider: the values of {upstream.<name>} in the provider’s file.'),
    variants: z
      .array(
        z.strictObject({
          contains: z.array(pointer).min(1).describe('Places in the input. At least one must have a value.'),
          upstream: z
            .record(z.string(), z.string())
            .describe('Entries of `upstream` that are different for this input.'),
        }),
      )
      .default([])
      .describe('Inputs that go to another address. The first variant that matches is used.'),
    charges_on_policy_rejection: routerChargesOnPolicyRejection.describe(
      'Whether the provider bills a run that it refuses under its content policy.',
    ),
    price: price.describe('The price of a run.'),
    budget_seconds: z
      .int()
      .min(1)
      .max(86_400)
      .default(540)
      .describe('The time limit of a run. After that, it fails as provider_timeout.'),
    assets: z
      .array(pointer)
      .default([])
      .describe('Places of file URLs in the output; the router copies the files. `*` is every element.'),
    constants: z
      .record(z.string().min(1), constantValue)
      .refine((constants) => [1, 2, 3].includes(Object.keys(constants).length), {
        message: 'one to three constants',
      })
      .optional()
      .describe(
        'Fields of the body that name the model at the provider. The router adds those that the caller leaves out, and refuses other values with 422.',
      ),
    refused_fields: z
      .array(z.string().regex(/^(\/[^/]+)+$|^[^/]+$/, 'a name or a JSON pointer'))
      .default([])
      .describe(
        'Fields that are refused because they make the provider deliver or store results elsewhere: names, or JSON Pointers of nested fields. Fields at the top level with names like webhook, callback, notify, pubsub or storage_uri are always refused.',
      ),
    input: anySchema
      .optional()
      .describe(
        'The schema of the input. It allows unknown fields unless it sets additionalProperties. Left out, every JSON object is accepted.',
      ),
    output: z
      .strictObject({
        media_type: z
          .string()
          .regex(/^[^/\s]+\/[^/\s]+$/)
          .describe('The media type, such as application/json.'),
        schema: anySchema
          .optional()
          .describe('The schema of the result, shown in documents. Results are not checked.'),
        example: z.json().optional().describe('An example of a result, shown in documents.'),
      })
      .optional()
      .describe('The result.'),
    example: inputValue
      .optional()
      .describe('An example of an input that is accepted. Required if the row has an `input`.'),
    counter_examples: z
      .array(
        z.strictObject({
          input: inputValue.describe('The input.'),
          errors: z
            .array(
              z.strictObject({
                loc: z
                  .array(z.union([z.string(), z.int()]))
                  .min(1)
                  .describe('The place of the error: `body`, then the path of the field.'),
                type: z.string().describe('The type of the error, such as missing or less_than_equal.'),
              }),
            )
            .min(1)
            .describe('All errors of the 422 answer.'),
        }),
      )
      .default([])
      .describe('Examples of inputs that are refused; `admin catalog check` tries them.'),
  })
  .superRefine(({ id }, context) => {
    const [provider, model] = id.split('/');
    if (!routerProviderSegment.safeParse(provider).success || !routerModelSegment.safeParse(model).success) {
      context.addIssue({ code: 'custom', path: ['id'], message: 'a segment of the id is too long' });
    }
  });

/** A row that extends another one; its own fields and those of the other are checked together, as a `modelRow`. */
export const extendingRow = z.strictObject({
  ...Object.fromEntries(
    Object.entries(modelRow.shape).map(([name, { description = '' }]) => [
      name,
      z.unknown().optional().describe(description),
    ]),
  ),
  id,
  extends: routerModelId.describe(
    'The id of another row in the same directory. This row takes over its fields and merges its own into them, as a JSON merge patch (RFC 7396): null removes a field.',
  ),
});

/** A model that is gone, for callers who still ask for it. */
export const endedRow = z.strictObject({
  id,
  aliases,
  ended: z.iso.date().describe('The day on which the model ended.'),
  successor,
  source: z
    .string()
    .min(1)
    .optional()
    .describe('The document that announced the end, and its date; see `admin catalog coverage`.'),
});

export type EndedModel = z.infer<typeof endedRow>;

/** Hides the row of the same id that an earlier directory brings. */
export const hidingRow = z.strictObject({
  id,
  hidden: z.literal(true).describe('Hides the row of this id in the catalog of the release.'),
});
