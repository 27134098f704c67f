import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import {
  type CallerTools,
  type ProviderTools,
  type ProviderDefinition,
  type RowProblem,
  rowProblems,
  type StreamTerms,
  type TakenHeaders,
} from '#providers';
import { pointerFrom, type RouterChargesOnPolicyRejection, valueAt } from '#schemas';
import { acceptedInput } from './accepted-input.js';
import { type Documents, intake, isObject } from './intake/intake.js';
import type { JsonSchema } from './json-schema.js';
import {
  type LateSchemas,
  lateSchemas,
  madeOnce,
  type ModelSchemas,
  readLater,
  schemasOf,
} from './late-schemas.js';
import { modelRow } from './model-row.js';
import { type Price, priceAt } from './price.js';

type Row = z.infer<typeof modelRow>;

/** An input that the schema must reject, and the exact errors. */
export type CounterExample = Row['counter_examples'][number];

/** A runnable model: a parsed, frozen row of the catalog. Members not declared here are those of the row. */
export interface Model extends Omit<
  Row,
  | 'charges_on_policy_rejection'
  | 'price'
  | 'budget_seconds'
  | 'assets'
  | 'refused_fields'
  | 'output'
  | 'counter_examples'
> {
  /** The provider whose adapter and key serve the model. */
  provider: string;
  chargesOnPolicyRejection: RouterChargesOnPolicyRejection;
  /** The price in force: now, or at the time that `pricedAt` was given. */
  price: Price;
  /** All prices in the order of their days, if the row has several. */
  prices?: readonly Price[] | undefined;
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
  /** How callers request an event stream. Absent if the model does not stream. */
  stream?: StreamTerms | undefined;
  /** The tools that run at the caller. */
  callerTools?: CallerTools | undefined;
  /** The tools that run at the provider and whose cost is known. */
  providerTools?: ProviderTools | undefined;
  /** The entries of `upstream` that differ in the free call that counts the tokens of an input. */
  tokenCount?: Readonly<Record<string, string>> | undefined;
  /** The headers of a call that the provider reads as a part of the input. */
  inputHeaders?: TakenHeaders | undefined;
  /** Whether its runs are in no list and have no record. They cost nothing. */
  isUnlisted?: true | undefined;
  /** Members that must not be true, because the provider would send another kind of reply. */
  refusesTrue?: readonly string[] | undefined;
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

/**
 * Caches a value that is made from the schemas of a model: for good, or, if they are read on first use, as long as the
 * schemas themselves.
 */
export function oncePerSchema<Made extends object | string>(
  make: (model: Model) => Made,
): (model: Model) => Made {
  const made = oncePerModel(make);
  return (model) => {
    const late = lateSchemas(model);
    return late === undefined ? made(model) : madeOnce(model.id, late, make, () => make(model));
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

/** A document that can be read on first use. Undefined for one that must be read with the row. */
export type LateDocuments = (file: string) => LateDocument | undefined;

interface LateDocument {
  /** The SHA-256 of its bytes in hex. */
  digest: string;
  /** Its content. Throws if it is not readable or has changed. */
  read: () => unknown;
}

/**
 * Parses a row into a model, or returns all of its problems. `documents` are the files to which its schemas may
 * refer. If all schemas of the row are references to one of the late documents, it is read on first use.
 */
export function readModel(
  row: unknown,
  documents?: Documents,
  lateDocuments: LateDocuments = () => undefined,
): { model: Model } | { problems: RowProblem[] } {
  const checked = checkModel(row, documents, lateDocuments);
  return 'problems' in checked ? checked : { model: checked.model() };
}

/** Finds the same problems as `readModel`. The model of a row without any is made only when it is called for. */
export function checkModel(
  row: unknown,
  documents?: Documents,
  lateDocuments: LateDocuments = () => undefined,
): { row: Row; model: () => Model } | { problems: RowProblem[] } {
  const parsed = modelRow.safeParse(row, { reportInput: true });
  if (parsed.success) {
    const late = lateDocuments(onlyDocument(parsed.data) ?? '');
    if (late !== undefined) return { row: parsed.data, model: () => lateModel(parsed.data, late) };
  }
  const read = readSchemas(parsed.success ? parsed.data : row, documents);
  const problems = [...(parsed.error ? rowProblems(parsed.error.issues) : []), ...read.problems];
  if (!parsed.success || problems.length > 0) return { problems };
  const { data } = parsed;
  return { row: data, model: () => modelFrom(data, accepted(data, read), read.input !== undefined) };
}

/** The provider whose adapter and key serve the model of a row. */
export const providerOf = ({ id, provider }: Pick<Row, 'id' | 'provider'>): string =>
  provider ?? visibleProvider(id);

/** The document of a row whose schemas are nothing but references to one document. */
function onlyDocument({ input, output }: Row): string | undefined {
  const [file, ...others] = new Set(
    [input, ...(output?.schema === undefined ? [] : [output.schema])].map(documentOf),
  );
  return others.length === 0 ? file : undefined;
}

function documentOf(schema: unknown): string | undefined {
  if (!isObject(schema) || typeof schema['$ref'] !== 'string' || Object.keys(schema).length > 1)
    return undefined;
  return schema['$ref'].split('#')[0];
}

function lateModel(row: Row, { digest, read: readDocument }: LateDocument): Model {
  const late: LateSchemas = {
    row: frozen(row),
    digest,
    read: () => {
      let document: unknown;
      const read = readSchemas(row, () => (document ??= readDocument()));
      return read.problems.length > 0 ? { problems: read.problems } : { schemas: accepted(row, read) };
    },
  };
  const model = modelFrom(
    row,
    {
      get input() {
        return schemasOf(row.id, late).input;
      },
      get output() {
        return schemasOf(row.id, late).output;
      },
    },
    true,
  );
  readLater(model, late);
  return model;
}

/** The normalized schemas of a row, and their problems. */
function readSchemas(row: unknown, documents: Documents | undefined) {
  const input = schemaAt(row, ['input'], documents);
  const output = schemaAt(row, ['output', 'schema'], documents);
  const problems = [...input.problems, ...output.problems];
  if (input.schema?.type !== undefined && input.schema.type !== 'object') {
    problems.push({ path: ['input', 'type'], message: 'the input must be an object' });
  }
  const constants = isObject(row) && isObject(row['constants']) ? row['constants'] : {};
  const required = Object.keys(constants).filter((name) => input.schema?.required?.includes(name));
  if (required.length > 0) {
    problems.push({
      path: ['input', 'required'],
      message: `${required.join(', ')} must not be required, because the router adds it`,
    });
  }
  return { input: input.schema, output: output.schema, problems };
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

/** The schemas with which calls are checked and that documents show. */
const accepted = (
  row: Row,
  { input, output }: { input?: JsonSchema | undefined; output?: JsonSchema | undefined },
): ModelSchemas => frozen({ input: acceptedInput(input, refusedPointersOf(row), row.constants), output });

const refusedPointersOf = ({ refused_fields: refused }: Row): string[] =>
  refused.map((field) => (field.startsWith('/') ? field : pointerFrom([field])));

function modelFrom(row: Row, schemas: ModelSchemas, isAuthored: boolean): Model {
  const {
    charges_on_policy_rejection: chargesOnPolicyRejection,
    budget_seconds: budgetSeconds,
    assets: assetPointers,
    counter_examples: counterExamples,
    refused_fields: _refused,
    output,
    price,
    ...same
  } = row;
  const prices = [price].flat();
  for (const member of Object.values(row)) frozen(member);
  return Object.freeze({
    ...same,
    provider: providerOf(row),
    get price() {
      return priceAt(prices, Date.now());
    },
    ...(prices.length > 1 && { prices: Object.freeze(prices) }),
    chargesOnPolicyRejection,
    budgetMs: budgetSeconds * 1000,
    assetPointers,
    get input() {
      return schemas.input;
    },
    refusedPointers: frozen(refusedPointersOf(row)),
    isAuthored,
    output:
      output &&
      Object.freeze({
        mediaType: output.media_type,
        get schema() {
          return schemas.output;
        },
        example: output.example,
      }),
    counterExamples,
  });
}

/** The model with the facts of its provider. */
export function servedBy(
  model: Model,
  {
    takesBothSpellings,
    streams,
    callerTools,
    providerTools,
    tokenCount,
    inputHeaders,
    refusesTrue,
  }: ProviderDefinition,
): Model {
  const refused = refusesTrue?.(model.upstream) ?? [];
  const facts = Object.entries({
    takesBothSpellings: takesBothSpellings === true ? true : undefined,
    stream: streams?.(model.upstream),
    callerTools: callerTools?.(model.upstream),
    providerTools: providerTools?.(model.upstream),
    tokenCount: tokenCount?.(model.upstream),
    inputHeaders,
    refusesTrue: refused.length > 0 ? refused : undefined,
  } satisfies Partial<Model>).filter(([, fact]) => fact !== undefined);
  return facts.length === 0 ? model : withFacts(model, facts);
}

/** The call that counts the tokens of an input of the model: it takes any input that names the model, and costs nothing. */
export const tokenCounter = oncePerModel((model) => {
  const facts: Partial<Model> = {
    upstream: { ...model.upstream, ...model.tokenCount },
    variants: [],
    servers: [],
    price: { usd: 0, times: [], plus: [], reported: [] },
    prices: undefined,
    input: acceptedInput(undefined, model.refusedPointers, model.constants),
    isAuthored: false,
    isUnlisted: true,
    stream: undefined,
    providerTools: undefined,
  };
  const late = lateSchemas(model);
  return withFacts(model, Object.entries(facts), late && { ...late });
});

/** A copy of a model with other facts. The members are copied as they are, because a spread would read the schemas. */
function withFacts(
  model: Model,
  facts: readonly (readonly [string, unknown])[],
  late = lateSchemas(model),
): Model {
  const members = {
    ...Object.getOwnPropertyDescriptors(model),
    ...Object.fromEntries(facts.map(([name, value]) => [name, { value: frozen(value), enumerable: true }])),
  };
  const copy = Object.freeze(Object.defineProperties({}, members)) as Model;
  if (late !== undefined) readLater(copy, late);
  return copy;
}

/** The same model by each of its prices. */
const byPrice = new WeakMap<Model, Map<Price, Model>>();

/** The model with the price of a time: the same object for all times at which that price is in force. */
export function pricedAt(model: Model, atMs: number): Model {
  if (model.prices === undefined) return model;
  const price = priceAt(model.prices, atMs);
  const all = byPrice.get(model) ?? new Map<Price, Model>();
  const late = lateSchemas(model);
  // Another key, because some of the values that are cached with the schemas contain the price.
  const priced = all.get(price) ?? withFacts(model, [['price', price]], late && { ...late });
  all.set(price, priced);
  for (const each of [model, priced]) byPrice.set(each, all);
  return priced;
}

/** The price that follows the present one. */
export const nextPrice = ({ prices = [], price }: Model): Price | undefined =>
  prices[prices.indexOf(price) + 1];

/** Whether two models are the same. Does not read schemas that are read on first use. */
export function areSame(one: Model, other: Model): boolean {
  const [late, otherLate] = [lateSchemas(one), lateSchemas(other)];
  if (late === undefined || otherLate === undefined) {
    return late === otherLate && isDeepStrictEqual(one, other);
  }
  return (
    late.digest === otherLate.digest &&
    one.takesBothSpellings === other.takesBothSpellings &&
    isDeepStrictEqual(one.stream, other.stream) &&
    isDeepStrictEqual(one.callerTools, other.callerTools) &&
    isDeepStrictEqual(one.providerTools, other.providerTools) &&
    isDeepStrictEqual(one.tokenCount, other.tokenCount) &&
    isDeepStrictEqual(one.inputHeaders, other.inputHeaders) &&
    isDeepStrictEqual(one.refusesTrue, other.refusesTrue) &&
    isDeepStrictEqual(late.row, otherLate.row)
  );
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const member of Object.values(value)) frozen(member);
  }
  return Object.freeze(value);
}
