import { z } from 'zod';
import {
  type RouterChargesOnPolicyRejection,
  routerChargesOnPolicyRejection,
  routerModelId,
  routerModelSegment,
  routerProviderSegment,
} from '#schemas';
import { intake } from './intake/intake.js';
import type { Documents } from './intake/walk.js';
import type { JsonSchema } from './json-schema.js';
import { pointerSegments } from './pointer.js';
import { type Price, price } from './price.js';

/** An input that the schema must refuse, and exactly the entries it is refused with. */
export interface CounterExample {
  input: Record<string, unknown>;
  fails: { loc: (string | number)[]; type: string }[];
}

/** One runnable model: a row of the catalog, parsed once and frozen. */
export interface Model {
  /** `provider` and `model` joined by a slash. */
  id: string;
  provider: string;
  model: string;
  /** The partner's own address of the model; `path` is always there. */
  upstream: Record<string, string>;
  chargesOnPolicyRejection: RouterChargesOnPolicyRejection;
  price: Price;
  /** How long the partner may take for one run before it ends as `provider_timeout`. */
  budgetMs: number;
  /** JSON pointers into the output, `*` for every element, whose URL strings are assets. */
  assetPointers: string[];
  /** Absent when no schema is authored: any JSON object is accepted then. */
  input?: JsonSchema;
  output?: { mediaType: string; schema?: JsonSchema };
  example?: Record<string, unknown>;
  counterExamples: CounterExample[];
}

const inputValue = z.record(z.string(), z.json());
const assetPointer = z.string().regex(/^(\/[^/]+)+$/, 'a JSON pointer such as /images/*/url');

const defaultBudgetSeconds = 540;

/** A schema in any dialect, brought to the one form; `documents` are the files its references may name. */
const schemaIn = (documents?: Documents) =>
  z.unknown().transform((given, context): JsonSchema => {
    const { schema, problems } = intake(given, documents);
    for (const { pointer, reason } of problems) {
      context.addIssue({ code: 'custom', path: pointerSegments(pointer), message: reason });
    }
    return schema;
  });

/** One YAML file of a catalog directory, field by field; unknown fields are problems. */
export const modelRowWith = (documents?: Documents) =>
  z
    .strictObject({
      id: routerModelId,
      upstream: z.object({ path: z.string().min(1) }).catchall(z.string()),
      charges_on_policy_rejection: routerChargesOnPolicyRejection,
      price,
      budget_seconds: z.int().min(1).max(86_400).default(defaultBudgetSeconds),
      assets: z.array(assetPointer).default([]),
      input: schemaIn(documents).optional(),
      output: z
        .strictObject({
          media_type: z.string().regex(/^[^/\s]+\/[^/\s]+$/),
          schema: schemaIn(documents).optional(),
        })
        .optional(),
      example: inputValue.optional(),
      counter_examples: z
        .array(
          z.strictObject({
            input: inputValue,
            fails: z
              .array(
                z.strictObject({ loc: z.array(z.union([z.string(), z.int()])).min(1), type: z.string() }),
              )
              .min(1),
          }),
        )
        .default([]),
    })
    .superRefine(({ id, input }, context) => {
      const [provider, model] = id.split('/');
      if (
        !routerProviderSegment.safeParse(provider).success ||
        !routerModelSegment.safeParse(model).success
      ) {
        context.addIssue({ code: 'custom', path: ['id'], message: 'a segment of the id is too long' });
      }
      if (input?.type !== undefined && input.type !== 'object') {
        context.addIssue({ code: 'custom', path: ['input', 'type'], message: 'the input is an object' });
      }
    });

export const modelRow = modelRowWith();

/** Hides the row of the same id that an earlier directory brings. */
export const hidingRow = z.strictObject({ id: routerModelId, hidden: z.literal(true) });

export function modelFrom(row: z.infer<typeof modelRow>): Model {
  const slash = row.id.indexOf('/');
  return freeze({
    id: row.id,
    provider: row.id.slice(0, slash),
    model: row.id.slice(slash + 1),
    upstream: row.upstream,
    chargesOnPolicyRejection: row.charges_on_policy_rejection,
    price: row.price,
    budgetMs: row.budget_seconds * 1000,
    assetPointers: row.assets,
    ...(row.input === undefined ? {} : { input: row.input }),
    ...(row.output === undefined
      ? {}
      : {
          output: {
            mediaType: row.output.media_type,
            ...(row.output.schema === undefined ? {} : { schema: row.output.schema }),
          },
        }),
    ...(row.example === undefined ? {} : { example: row.example }),
    counterExamples: row.counter_examples,
  });
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freeze(member);
  }
  return value;
}
