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

const memberValue = z.union([z.string(), z.number(), z.boolean()]);
export type MemberValue = z.infer<typeof memberValue>;

const id = routerModelId.describe('Provider and model, joined by a slash: acme/paint-2.');
const alias = z
  .string()
  .regex(/^[a-z0-9]+([._-][a-z0-9]+)*(\/[a-z0-9]+([._-][a-z0-9]+)*){1,5}$/)
  .max(193);
const aliases = z
  .array(alias)
  .default([])
  .describe(
    'Other names of it, unique over all models: one of two segments answers every route, a longer one is suggested.',
  );
const successor = routerModelId
  .optional()
  .describe('The id of the model to use instead: the first suggestion when it has ended.');

const inputValue = z.record(z.string(), z.json());
const pointer = z.string().regex(/^(\/[^/]+)+$/, 'a JSON pointer such as /images/*/url');

const inRange = (value: number, min: number, max: number): boolean => value >= min && value <= max;

const defaultBudgetSeconds = 540;

const anySchema = z.unknown().meta({
  $ref: 'https://json-schema.org/draft/2020-12/schema',
  description:
    'JSON Schema 2020-12, or the dialect of OpenAPI 3.0 or 3.1; may refer to a JSON file beside the row.',
});

/** One YAML file of a catalog directory, field by field; unknown fields are problems. */
export const modelRow = z
  .strictObject({
    id,
    aliases,
    provider: routerProviderSegment
      .optional()
      .describe('The provider that serves it; left out, the first segment of the id.'),
    title: z.string().min(1).max(100).optional().describe('The name that people know it by.'),
    description: z.string().min(1).max(300).optional().describe('One sentence for people.'),
    modalities: z
      .strictObject({
        in: modalities.describe('What the input may hold.'),
        out: modalities.describe('What the result holds.'),
      })
      .optional()
      .describe('What goes in and comes out.'),
    ends: z.iso
      .date()
      .optional()
      .describe(
        'The first day, in UTC, on which it is not listed and a run answers 404; documents and checks tell 30 days before.',
      ),
    successor,
    servers: z
      .array(routerModelId)
      .default([])
      .describe(
        'Ids of rows by which other providers serve the same model, each with its own input and price: the first segment of an id is what callers pick it by.',
      ),
    upstream: z
      .object({ path: z.string().min(1).describe('The path, or what stands for it there.') })
      .catchall(z.string())
      .describe('The address of the model at the provider, for {upstream.<name>} of its provider.'),
    variants: z
      .array(
        z.strictObject({
          holds: z.array(pointer).min(1).describe('Places of the input, one of which holds something.'),
          upstream: z.record(z.string(), z.string()).describe('The entries that are others then.'),
        }),
      )
      .default([])
      .describe('Inputs that go to another address: the first whose place holds something counts.'),
    charges_on_policy_rejection: routerChargesOnPolicyRejection.describe(
      'Whether a run that the provider refuses by its content policy is billed.',
    ),
    price: price.describe('What a run costs.'),
    budget_seconds: z
      .int()
      .min(1)
      .max(86_400)
      .default(defaultBudgetSeconds)
      .describe('How long the provider may take before the run ends as provider_timeout.'),
    assets: z
      .array(pointer)
      .default([])
      .describe('Where URLs of files stand in the output, to be copied; * stands for every element.'),
    members: z
      .record(z.string().min(1), memberValue)
      .refine((members) => inRange(Object.keys(members).length, 1, 3), { message: 'one to three members' })
      .optional()
      .describe(
        'Constants of the body that name the model. The worker puts those first that the caller leaves out; another value is refused with 422.',
      ),
    refused_fields: z
      .array(z.string().regex(/^(\/[^/]+)+$|^[^/]+$/, 'a name or a JSON pointer'))
      .default([])
      .describe(
        'Fields that would make the provider call or store elsewhere, beside those named like webhook, callback, notify, pubsub or storage_uri at the top level; nested ones as JSON pointers.',
      ),
    input: anySchema
      .optional()
      .describe('Schema of the input, open unless it closes itself; left out, any JSON object is accepted.'),
    output: z
      .strictObject({
        media_type: z
          .string()
          .regex(/^[^/\s]+\/[^/\s]+$/)
          .describe('Such as application/json.'),
        schema: anySchema
          .optional()
          .describe('Schema of the result, for documents; results are not checked.'),
        example: z.json().optional().describe('A result, for documents.'),
      })
      .optional()
      .describe('What a result is.'),
    example: inputValue.optional().describe('An input that is accepted; required beside `input`.'),
    counter_examples: z
      .array(
        z.strictObject({
          input: inputValue.describe('The input.'),
          fails: z
            .array(
              z.strictObject({
                loc: z
                  .array(z.union([z.string(), z.int()]))
                  .min(1)
                  .describe('Where: body, then the way to the field.'),
                type: z.string().describe('Such as missing or less_than_equal.'),
              }),
            )
            .min(1)
            .describe('Every entry of the 422 answer.'),
        }),
      )
      .default([])
      .describe('Inputs that must be refused, tried by `admin catalog check`.'),
  })
  .superRefine(({ id }, context) => {
    const [provider, model] = id.split('/');
    if (!routerProviderSegment.safeParse(provider).success || !routerModelSegment.safeParse(model).success) {
      context.addIssue({ code: 'custom', path: ['id'], message: 'a segment of the id is too long' });
    }
  });

/** A row that is like another one; what it says and what it takes over are checked together, as a `modelRow`. */
export const likeRow = z.strictObject({
  ...Object.fromEntries(
    Object.entries(modelRow.shape).map(([name, { description = '' }]) => [
      name,
      z.unknown().optional().describe(description),
    ]),
  ),
  id,
  like: routerModelId.describe(
    'The id of another row of the same directory, whose fields this row has too, but for those that it names itself (a JSON merge patch: null takes a field away).',
  ),
});

/** A model that is gone, for callers who still ask for it. */
export const endedRow = z.strictObject({
  id,
  aliases,
  ended: z.iso.date().describe('When it ended.'),
  successor,
  source: z
    .string()
    .min(1)
    .optional()
    .describe('Where it was read that it ended, and when; `admin catalog coverage` shows it.'),
});

export type EndedModel = z.infer<typeof endedRow>;

/** Hides the row of the same id that an earlier directory brings. */
export const hidingRow = z.strictObject({
  id,
  hidden: z.literal(true).describe('Hides the row of this id that an earlier directory brings.'),
});
