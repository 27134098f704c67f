import type { z } from 'zod';
import {
  pointerFrom,
  pointerSegments,
  type RouterChargesOnPolicyRejection,
  type RouterModality,
  valueAt,
} from '#schemas';
import { acceptedInput, type MemberValue } from './accepted-input.js';
import { type Documents, intake } from './intake/intake.js';
import type { JsonSchema } from './json-schema.js';
import { modelRow } from './model-row.js';
import type { Price } from './price.js';

/** An input that the schema must refuse, and exactly the entries it is refused with. */
export interface CounterExample {
  input: Record<string, unknown>;
  fails: { loc: (string | number)[]; type: string }[];
}

/** For inputs that hold something at one of these places, entries of `upstream` that replace those of the model. */
interface AddressVariant {
  holds: string[];
  upstream: Record<string, string>;
}

/** One runnable model: a row of the catalog, parsed once and frozen. */
export interface Model {
  /** Two segments, of which callers see the first as its provider. */
  id: string;
  /** Other names that callers may use; no list shows them. */
  aliases: string[];
  /** Which provider's adapter and key serve it. */
  provider: string;
  title?: string;
  /** One sentence for people. */
  description?: string;
  modalities?: { in: RouterModality[]; out: RouterModality[] };
  /** The first day, in UTC, on which the model is not there any more: 2026-12-01. */
  ends?: string;
  /** The id of the model to use instead. */
  successor?: string;
  /** Ids of the rows by which other providers serve it. */
  servers: string[];
  /** The partner's own address of the model; `path` is always there. */
  upstream: Record<string, string>;
  /** Inputs that go to another address. */
  variants: AddressVariant[];
  chargesOnPolicyRejection: RouterChargesOnPolicyRejection;
  price: Price;
  /** How long the partner may take for one run before it ends as `provider_timeout`. */
  budgetMs: number;
  /** JSON pointers into the output, `*` for every element, whose URL strings are assets. */
  assetPointers: string[];
  /** Constants of the body that name the model; the router adds those that the caller leaves out. */
  members?: Record<string, MemberValue>;
  /** What calls are checked with and documents show. */
  input: JsonSchema;
  /** Whether the row describes the input. Otherwise any JSON object is accepted, but for callbacks and other members. */
  isAuthored: boolean;
  output?: { mediaType: string; schema?: JsonSchema; example?: unknown };
  example?: Record<string, unknown>;
  counterExamples: CounterExample[];
}

export interface RowProblem {
  path: readonly PropertyKey[];
  message: string;
}

/** The model of a row, or everything that is wrong with it; `documents` are the files its schemas may refer to. */
export function readModel(
  row: unknown,
  documents?: Documents,
): { model: Model } | { problems: RowProblem[] } {
  const parsed = modelRow.safeParse(row);
  const given: unknown = parsed.success ? parsed.data : row;
  const input = schemaAt(given, ['input'], documents);
  const output = schemaAt(given, ['output', 'schema'], documents);
  const problems = [...(parsed.error?.issues ?? []), ...input.problems, ...output.problems];
  if (input.schema?.type !== undefined && input.schema.type !== 'object') {
    problems.push({ path: ['input', 'type'], message: 'the input is an object' });
  }
  const required = Object.keys(parsed.data?.members ?? {}).filter((name) =>
    input.schema?.required?.includes(name),
  );
  if (required.length > 0) {
    problems.push({ path: ['input', 'required'], message: `the router adds ${required.join(', ')}` });
  }
  if (!parsed.success || problems.length > 0) return { problems };
  return { model: modelFrom(parsed.data, input.schema, output.schema) };
}

/** The schema at a place of a row, brought to the one form. */
function schemaAt(
  row: unknown,
  path: readonly string[],
  documents: Documents | undefined,
): { schema?: JsonSchema; problems: RowProblem[] } {
  const given = valueAt(row, pointerFrom(path));
  if (given === undefined) return { problems: [] };
  const { schema, problems } = intake(given, documents);
  return {
    schema,
    problems: problems.map(({ pointer, reason }) => ({
      path: [...path, ...pointerSegments(pointer)],
      message: reason,
    })),
  };
}

function modelFrom(
  row: z.infer<typeof modelRow>,
  input: JsonSchema | undefined,
  outputSchema: JsonSchema | undefined,
): Model {
  const [provider = ''] = row.id.split('/');
  return frozen({
    id: row.id,
    aliases: row.aliases,
    provider: row.provider ?? provider,
    title: row.title,
    description: row.description,
    modalities: row.modalities,
    ends: row.ends,
    successor: row.successor,
    servers: row.servers,
    upstream: row.upstream,
    variants: row.variants,
    chargesOnPolicyRejection: row.charges_on_policy_rejection,
    price: row.price,
    budgetMs: row.budget_seconds * 1000,
    assetPointers: row.assets,
    members: row.members,
    input: acceptedInput(input, { members: row.members ?? {}, refused: row.refused_fields }),
    isAuthored: input !== undefined,
    output: row.output && {
      mediaType: row.output.media_type,
      schema: outputSchema,
      example: row.output.example,
    },
    example: row.example,
    counterExamples: row.counter_examples,
  });
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) frozen(member);
  }
  return Object.freeze(value);
}
