import { z } from 'zod';
import {
  routerModality,
  routerChargesOnPolicyRejection,
  routerModelId,
  routerModelSegment,
  routerProviderSegment,
} from '#schemas';
import { generated, inputHeaderNames } from '#providers';
import { jsonValue } from './json-value.js';
import { prices } from './price.js';

const modalities = z.array(routerModality).min(1);

const constantValue = z.union([z.string(), z.number(), z.boolean()]);
export type ConstantValue = z.infer<typeof constantValue>;

const id = routerModelId.describe(
  'The id of the model: a provider segment and a model segment, joined by a slash, such as `acme/paint-2`.',
);
export const modelAlias = z
  .string()
  .regex(/^[a-z0-9]+([._-][a-z0-9]+)*(\/[a-z0-9]+([._-][a-z0-9]+)*){1,5}$/)
  .max(193);
const aliases = z
  .array(modelAlias)
  .default([])
  .describe(
    'Other names of the model. Each must be unique in the catalog. A name with two segments works on every route; a longer name is only suggested.',
  );
const successor = routerModelId
  .optional()
  .describe(
    'The id of the model that replaces this one. After the end, it is the first suggestion for callers.',
  );

const inputValue = z.record(z.string(), jsonValue);
const pointer = z.string().regex(/^(\/[^/]+)+$/, 'expected a JSON pointer such as /images/*/url');

const anySchema = z.unknown().meta({
  $ref: 'https://json-schema.org/draft/2020-12/schema',
  description:
    'A schema in JSON Schema 2020-12 or in the dialect of OpenAPI 3.0 or 3.1. A `$ref` may point to a JSON file in the same directory.',
});

/** A model row: one YAML file of a catalog directory. Unknown fields are problems. */
export const modelRow = z
  .strictObject({
    id,
    aliases,
    provider: routerProviderSegment
      .optional()
      .describe('The provider that serves the model. Defaults to the first segment of the id.'),
    title: z.string().min(1).max(100).optional().describe('The display name of the model.'),
    description: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe('A description of the model, in one sentence.'),
    modalities: z
      .strictObject({
        in: modalities.describe('The kinds of content that the model accepts.'),
        out: modalities.describe('The kinds of content that the model produces.'),
      })
      .optional()
      .describe('The kinds of content in the input and the output.'),
    added: z.iso
      .date()
      .optional()
      .describe(
        'The day on which the row was added to the catalog, by which the console sorts the newest models. Rows without it come last.',
      ),
    ends: z.iso
      .date()
      .optional()
      .describe(
        'The first day (UTC) on which the model is no longer available. From then on it is not listed and its runs answer 404. Model documents and `admin catalog check` announce the day 30 days in advance.',
      ),
    successor,
    servers: z
      .array(routerModelId)
      .default([])
      .describe(
        'The ids of rows with which other providers serve the same model, each with its own input and price. Callers select a server by the first segment of its id.',
      ),
    upstream: z
      .object({
        path: z.string().min(1).describe('The path of the model at the provider, or another name for it.'),
      })
      .catchall(z.string())
      .describe(
        'The address of the model at the provider: the values for {upstream.<name>} in the provider’s file.',
      ),
    variants: z
      .array(
        z.strictObject({
          contains: z
            .array(pointer)
            .min(1)
            .describe(
              'Places in the input (JSON pointers). The variant matches if at least one of them has a value.',
            ),
          upstream: z
            .record(z.string(), z.string())
            .describe('The entries of `upstream` that differ for this input.'),
        }),
      )
      .default([])
      .describe('Other addresses for certain inputs. The first matching variant is used.'),
    charges_on_policy_rejection: routerChargesOnPolicyRejection.describe(
      'Whether the provider bills a run that it rejects under its content policy.',
    ),
    policy_source: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The document that says so, what it says, and the day on which it was read. Also if what it says is neither `yes` nor `no`.',
      ),
    price: prices.describe(
      'The price of a run, or a list of prices that follow each other. A run keeps the price of its admission.',
    ),
    priced_headers: z
      .partialRecord(z.enum(inputHeaderNames), z.array(z.string().min(1)).min(1))
      .optional()
      .describe(
        'Beginnings of values of input headers that cost more with this model. A call with one is refused.',
      ),
    hidden_tokens: z
      .strictObject({
        per_second: z
          .number()
          .positive()
          .describe('The number of tokens that the model writes in a second, at least.'),
        date: z.iso.date().describe('The day from which the figure is.'),
      })
      .optional()
      .describe(
        'For a model whose stream does not show everything that it writes, such as reasoning. If a stream ends before its usage arrives, this number is the least that is billed. Once enough runs have finished, the number that they show replaces it.',
      ),
    budget_seconds: z
      .int()
      .min(1)
      .max(86_400)
      .default(540)
      .describe(
        'The time limit of a run, in seconds. A run that takes longer fails with `provider_timeout`.',
      ),
    assets: z
      .array(pointer)
      .default([])
      .describe(
        'The places of file URLs in the output (JSON pointers; `*` is every element). The router copies these files. A success without any is a result too, and costs only what the provider reports.',
      ),
    constants: z
      .record(z.string().min(1), constantValue)
      .refine((constants) => [1, 2, 3].includes(Object.keys(constants).length), {
        message: 'expected one to three constants',
      })
      .optional()
      .describe(
        'Fields of the body that name the model at the provider, with their values. The router adds those that the caller leaves out, and rejects other values with 422.',
      ),
    snapshots: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'Other values of the constant `model`, such as dated names: the body keeps the one that the caller used, and the price is the same. The vendor’s own clients find the row by them.',
      ),
    refused_fields: z
      .array(z.string().regex(/^(\/[^/]+)+$|^[^/]+$/, 'expected a name or a JSON pointer'))
      .default([])
      .describe(
        'Fields that the router rejects because they make the provider deliver or store results elsewhere. Use names, or JSON pointers for nested fields. Top-level fields with names like webhook, callback, notify, pubsub or storage_uri are always rejected.',
      ),
    input: anySchema
      .optional()
      .describe(
        'The schema of the input. Unknown fields are allowed unless it sets `additionalProperties`. Without a schema, every JSON object is accepted.',
      ),
    output: z
      .strictObject({
        media_type: z
          .string()
          .regex(/^[^/\s]+\/[^/\s]+$/)
          .describe('The media type of the result, such as `application/json`.'),
        schema: anySchema
          .optional()
          .describe(
            'The schema of the result, shown in model documents. Results are not checked against it.',
          ),
        example: jsonValue.optional().describe('An example of a result, shown in model documents.'),
      })
      .optional()
      .describe('The result of a run.'),
    example: inputValue
      .optional()
      .describe('An example of an accepted input. Required if the row has an `input`.'),
    counter_examples: z
      .array(
        z.strictObject({
          input: inputValue.describe('An input that must be rejected.'),
          errors: z
            .array(
              z.strictObject({
                loc: z
                  .array(z.union([z.string(), z.int()]))
                  .min(1)
                  .describe('The place of the error: `body`, followed by the path of the field.'),
                type: z.string().describe('The type of the error, such as `missing` or `less_than_equal`.'),
              }),
            )
            .min(1)
            .describe('All errors of the 422 response.'),
        }),
      )
      .default([])
      .describe(
        'Examples of rejected inputs. `admin catalog check` verifies that they fail with exactly these errors.',
      ),
    generated,
  })
  .superRefine(({ id }, context) => {
    const [provider, model] = id.split('/');
    if (!routerProviderSegment.safeParse(provider).success || !routerModelSegment.safeParse(model).success) {
      context.addIssue({ code: 'custom', path: ['id'], message: 'a segment of the id is too long' });
    }
  });

/** A row that extends another one. The merged fields of both are checked as a `modelRow`. */
export const extendingRow = z.strictObject({
  ...Object.fromEntries(
    Object.entries(modelRow.shape).map(([name, { description = '' }]) => [
      name,
      z.unknown().optional().describe(description),
    ]),
  ),
  id,
  extends: routerModelId.describe(
    'The id of another row in the same directory. This row’s fields are merged into that row’s as a JSON merge patch (RFC 7396), in which null removes a field.',
  ),
});

/** A model that has ended, for callers who still request it. */
export const endedRow = z.strictObject({
  id,
  aliases,
  ended: z.iso.date().describe('The day on which the model ended.'),
  successor,
  source: z
    .string()
    .min(1)
    .optional()
    .describe('The document that announced the end, and its date. `admin catalog coverage` shows it.'),
});

export type EndedModel = z.infer<typeof endedRow>;

/** Hides the row with the same id in an earlier directory. */
export const hidingRow = z.strictObject({
  id,
  hidden: z.literal(true).describe('Hides the built-in row with this id. The value must be true.'),
});
