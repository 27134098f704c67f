import type { z } from 'zod';
import { type ProviderDefinition, type RowProblem, rowProblems } from '#providers';
import { pointerFrom, type RouterChargesOnPolicyRejection, valueAt } from '#schemas';
import { acceptedInput } from './accepted-input.js';
import { type Documents, intake } from './intake/intake.js';
import type { JsonSchema } from './json-schema.js';
import { modelRow } from './model-row.js';

type Row = z.infer<typeof modelRow>;

/** An input that the schema must reject, and the exact errors. */
export type CounterExample = Row['counter_examples'][number];

/** A runnable model: a parsed, frozen row of the catalog. Members not declared here are those of the row. */
export interface Model extends Omit<
  Row,
  | 'charges_on_policy_rejection'
  | 'budget_seconds'
  | 'assets'
  | 'refused_fields'
  | 'output'
  | 'counter_examples'
> {
  /** The provider whose adapter and key serve the model. */
  provider: string;
  chargesOnPolicyRejection: RouterChargesOnPolicyRejection;
  /** The time limit of a run, after which it fails with `provider_timeout`. */
  budgetMs: number;
  /** JSON pointers to the asset URLs in the output. `*` stands for every element. */
  assetPointers: string[];
  /** The schema with which calls are checked and that documents show. */
  input: JsonSchema;
  /**
   * Whether the row has a schema of the input. Otherwise any JSON object is accepted, except callbacks and wrong
   * constants.
   */
  isAuthored: boolean;
  output?: { mediaType: string; schema?: JsonSchema; example?: unknown };
  counterExamples: CounterExample[];
  /** JSON pointers of the fields that the row rejects. */
  refusedPointers: string[];
  /** Whether the provider accepts each field in snake case and in camel case. */
  takesBothSpellings?: boolean;
}

/** Caches a value per model. Models are immutable, and a changed row becomes a new object. */
export function oncePerModel<Made extends object | string>(
  make: (model: Model) => Made,
): (model: Model) => Made {
  const known = new WeakMap<Model, Made>();
  return (model) => {
    let made = known.get(model);
    if (made === undefined) known.set(model, (made = make(model)));
    return made;
  };
}

const noticeMs = 30 * 24 * 60 * 60 * 1000;

/** Whether the model has ended, by the day in UTC. */
export const hasEnded = ({ ends }: Pick<Model, 'ends'>): boolean =>
  ends !== undefined && Date.now() >= Date.parse(ends);

/** Whether the model ends within 30 days, or has ended. */
export const endsSoon = ({ ends }: Pick<Model, 'ends'>): boolean =>
  ends !== undefined && Date.now() >= Date.parse(ends) - noticeMs;

/** The public name of a provider: the first segment of an id. */
export const visibleProvider = (id: string): string => id.slice(0, id.indexOf('/'));

/**
 * Parses a row into a model, or returns all of its problems. `documents` are the files to which its schemas may
 * refer.
 */
export function readModel(
  row: unknown,
  documents?: Documents,
): { model: Model } | { problems: RowProblem[] } {
  const parsed = modelRow.safeParse(row, { reportInput: true });
  const given: unknown = parsed.success ? parsed.data : row;
  const input = schemaAt(given, ['input'], documents);
  const output = schemaAt(given, ['output', 'schema'], documents);
  const problems = [
    ...(parsed.error ? rowProblems(parsed.error.issues) : []),
    ...input.problems,
    ...output.problems,
  ];
  if (input.schema?.type !== undefined && input.schema.type !== 'object') {
    problems.push({ path: ['input', 'type'], message: 'the input must be an object' });
  }
  const required = Object.keys(parsed.data?.constants ?? {}).filter((name) =>
    input.schema?.required?.includes(name),
  );
  if (required.length > 0) {
    problems.push({
      path: ['input', 'required'],
      message: `${required.join(', ')} must not be required, because the router adds it`,
    });
  }
  if (!parsed.success || problems.length > 0) return { problems };
  return { model: modelFrom(parsed.data, input.schema, output.schema) };
}

/** The normalized schema at a place of a row. */
function schemaAt(
  row: unknown,
  path: readonly string[],
  documents: Documents | undefined,
): { schema?: JsonSchema; problems: RowProblem[] } {
  const given = valueAt(row, pointerFrom(path));
  if (given === undefined) return { problems: [] };
  const { schema, problems } = intake(given, documents);
  return { schema, problems: problems.map((each) => ({ ...each, path: [...path, ...each.path] })) };
}

function modelFrom(row: Row, input: JsonSchema | undefined, outputSchema: JsonSchema | undefined): Model {
  const {
    charges_on_policy_rejection: chargesOnPolicyRejection,
    budget_seconds: budgetSeconds,
    assets: assetPointers,
    counter_examples: counterExamples,
    refused_fields: refused,
    output,
    ...same
  } = row;
  const [provider = ''] = row.id.split('/');
  const refusedPointers = refused.map((field) => (field.startsWith('/') ? field : pointerFrom([field])));
  return frozen({
    ...same,
    provider: row.provider ?? provider,
    chargesOnPolicyRejection,
    budgetMs: budgetSeconds * 1000,
    assetPointers,
    input: acceptedInput(input, refusedPointers, row.constants),
    refusedPointers,
    isAuthored: input !== undefined,
    output: output && { mediaType: output.media_type, schema: outputSchema, example: output.example },
    counterExamples,
  });
}

/** The model with the facts of its provider. */
export const servedBy = (model: Model, { takesBothSpellings }: ProviderDefinition): Model =>
  takesBothSpellings ? frozen({ ...model, takesBothSpellings }) : model;

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) frozen(member);
  }
  return Object.freeze(value);
}
