import type { z } from 'zod';
import { type ProviderDefinition, type RowProblem, rowProblems } from '#providers';
import { pointerFrom, type RouterChargesOnPolicyRejection, valueAt } from '#schemas';
import { acceptedInput } from './accepted-input.js';
import { type Documents, intake } from './intake/intake.js';
import type { JsonSchema } from './json-schema.js';
import { modelRow } from './model-row.js';

type Row = z.infer<typeof modelRow>;

/** An input that the schema must refuse, and exactly the entries it is refused with. */
export type CounterExample = Row['counter_examples'][number];

/** One runnable model: a row of the catalog, parsed once and frozen. What is not said here is what its row says. */
export interface Model extends Omit<
  Row,
  | 'charges_on_policy_rejection'
  | 'budget_seconds'
  | 'assets'
  | 'refused_fields'
  | 'output'
  | 'counter_examples'
> {
  /** Which provider's adapter and key serve it. */
  provider: string;
  chargesOnPolicyRejection: RouterChargesOnPolicyRejection;
  /** How long the provider may take for one run before it ends as `provider_timeout`. */
  budgetMs: number;
  /** JSON pointers into the output, `*` for every element, whose URL strings are assets. */
  assetPointers: string[];
  /** The schema with which calls are checked, as documents show it. */
  input: JsonSchema;
  /** Whether the row describes the input. Otherwise any JSON object is accepted, but for callbacks and other members. */
  isAuthored: boolean;
  output?: { mediaType: string; schema?: JsonSchema; example?: unknown };
  counterExamples: CounterExample[];
  /** JSON pointers of the fields that the row refuses by name. */
  refusedPointers: string[];
  /** Whether the provider takes a field in snake case and in camel case, whichever the row uses. */
  takesBothSpellings?: boolean;
}

/** Caches a value made from a model: models do not change, and the model of a changed row is another object. */
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

/** Whether the day has come, in UTC, from which the model is not there any more. */
export const hasEnded = ({ ends }: Pick<Model, 'ends'>): boolean =>
  ends !== undefined && Date.now() >= Date.parse(ends);

/** Whether that day is near enough to be told. */
export const endsSoon = ({ ends }: Pick<Model, 'ends'>): boolean =>
  ends !== undefined && Date.now() >= Date.parse(ends) - noticeMs;

/** The name by which callers know a provider: the first segment of an id. */
export const visibleProvider = (id: string): string => id.slice(0, id.indexOf('/'));

/** The model of a row, or everything that is wrong with it; `documents` are the files its schemas may refer to. */
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
    problems.push({ path: ['input', 'type'], message: 'the input is an object' });
  }
  const required = Object.keys(parsed.data?.constants ?? {}).filter((name) =>
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

/** The model as its provider reads it. */
export const servedBy = (model: Model, { takesBothSpellings }: ProviderDefinition): Model =>
  takesBothSpellings ? frozen({ ...model, takesBothSpellings }) : model;

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) frozen(member);
  }
  return Object.freeze(value);
}
