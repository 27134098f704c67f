import { providerRow } from '#providers';
import { countUpTo, pointerFrom, pointerSegments } from '#schemas';
import { z } from 'zod';
import { callbackField } from './accepted-input.js';
import { inputErrors } from './check-input.js';
import type { JsonSchema } from './json-schema.js';
import { lateSchemas } from './late-schemas.js';
import { type Documents } from './intake/intake.js';
import { type CounterExample, endsSoon, hasEnded, type Model, readModel, visibleProvider } from './model.js';
import { endedRow, hidingRow, extendingRow, modelRow } from './model-row.js';
import { pricePointers } from './price.js';
import { builtInDirectories, type CatalogSources, layered, readDirectories } from './load-catalog.js';
import type { CatalogProblem } from './read-rows.js';

type Finding = Omit<CatalogProblem, 'file'>;
type Example = Readonly<Record<string, unknown>>;

/** The settings of `admin catalog check`. */
export const catalogCheckSettings = {
  CATALOG_PRICE_DAYS: countUpTo(
    10_000,
    90,
    'Age in days from which `admin catalog check` warns about the date of a price.',
  ),
};

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Checks everything that `loadCatalog` checks, and more that would slow down a start: that pointers name declared
 * fields, that examples pass, that counter-examples fail as stated, and that no model has ended. A warning
 * announces a model that ends within thirty days, a price that was read more than `priceDays` ago, or one that has been
 * replaced.
 */
export async function checkCatalog(
  { directories = builtInDirectories(), builtIn }: CatalogSources = {},
  checking: (models: number, of: number) => void = () => {},
  priceDays = 90,
): Promise<CatalogProblem[]> {
  const { models, ended, problems } = layered(await readDirectories(directories), builtIn);
  const ids = new Set([...models.map(({ model }) => model.id), ...ended.map(({ id }) => id)]);
  return [
    ...problems,
    ...models.flatMap(({ file, model }, index) => {
      checking(index + 1, models.length);
      const found = [...findings(model, ids), ...oldPrices(model, priceDays)];
      return found.map((finding) => ({ file, ...finding }));
    }),
  ];
}

/**
 * Reads one row and checks it like `checkCatalog`. The model is absent if the row cannot be read. `exampleOf` makes the
 * example of a row that has none.
 */
export function checkRow(
  row: unknown,
  documents?: Documents,
  exampleOf?: (model: Model) => Example | undefined,
): { model?: Model; example?: Example | undefined; problems: Finding[] } {
  const read = readModel(row, documents);
  if ('problems' in read) {
    return {
      problems: read.problems.map(({ path, message }) => ({ pointer: pointerFrom(path), reason: message })),
    };
  }
  const { model } = read;
  const example = model.example ?? exampleOf?.(model);
  const problems = [...findings(model, new Set(), example)].filter(({ isWarning }) => !isWarning);
  return { model, example, problems };
}

function* oldPrices({ price: present, prices = [present] }: Model, days: number): Generator<Finding> {
  const inForce = prices.indexOf(present);
  for (const [index, { date, from }] of prices.entries()) {
    const pointer = prices.length === 1 ? '/price' : `/price/${index}`;
    if (index < inForce) {
      const reason = `another price replaced this one on ${prices[index + 1]?.from}: remove it`;
      yield { pointer, reason, isWarning: true };
      continue;
    }
    if (index === 0 && from !== undefined && Date.now() < Date.parse(from)) {
      const reason = `the price applies already, because there is none before ${from}`;
      yield { pointer: `${pointer}/from`, reason, isWarning: true };
    }
    if (date === undefined || Date.now() - Date.parse(date) <= days * dayMs) continue;
    const reason = `the price was read on ${date}, more than ${days} days ago`;
    yield { pointer: `${pointer}/date`, reason, isWarning: true };
  }
}

function* findings(
  model: Model,
  ids: ReadonlySet<string>,
  example: Example | undefined = model.example,
): Generator<Finding> {
  const read = lateSchemas(model)?.read();
  if (read !== undefined && 'problems' in read) {
    yield* read.problems.map(({ path, message }) => ({ pointer: pointerFrom(path), reason: message }));
    return;
  }
  const { input, output, price, prices = [price], variants, assetPointers, counterExamples } = model;
  for (const name of Object.keys(input.properties ?? {}).filter((each) => callbackField.test(each))) {
    const pointer = pointerFrom(['input', 'properties', name]);
    yield { pointer, reason: 'a field that makes the provider deliver results elsewhere is always rejected' };
  }
  const authored = model.isAuthored ? input : undefined;
  yield* undeclared(authored, prices.flatMap(pricePointers), () => '/price');
  for (const [index, { contains }] of variants.entries()) {
    yield* undeclared(authored, contains, () => `/variants/${index}/contains`);
  }
  yield* undeclared(output?.schema, assetPointers, (index) => `/assets/${index}`);
  yield* failedExample(model, example);
  for (const [index, { input: refused, errors }] of counterExamples.entries()) {
    const [stated, found] = [errors, inputErrors(model, refused)].map(summary);
    const reason = `the input fails with ${found || 'no error'}, not with ${stated}`;
    if (stated !== found) yield { pointer: `/counter_examples/${index}`, reason };
  }
  yield* lifecycle(model, ids);
  yield* servers(model, ids);
}

function* undeclared(
  schema: JsonSchema | undefined,
  pointers: readonly string[],
  place: (index: number) => string,
): Generator<Finding> {
  for (const [index, pointer] of pointers.entries()) {
    if (schema === undefined || declares(schema, pointer)) continue;
    yield { pointer: place(index), reason: `the schema does not declare ${pointer}` };
  }
}

function* failedExample(model: Model, example: Example | undefined): Generator<Finding> {
  const { constants = {} } = model;
  if (example === undefined) {
    if (model.isAuthored) yield { pointer: '/example', reason: 'a row with an `input` needs an example' };
    return;
  }
  // With and without the members that name the model: both are complete inputs.
  const bare = Object.fromEntries(
    Object.entries(example).filter(([name]) => !Object.hasOwn(constants, name)),
  );
  const refused = [example, bare, { ...constants, ...bare }].map((input) => inputErrors(model, input));
  for (const { loc, type, msg } of refused.find((errors) => errors.length > 0) ?? []) {
    const pointer = pointerFrom(['example', ...loc.slice(1)]);
    yield { pointer, reason: `the schema rejects the example: ${type}, ${msg}` };
  }
}

function* lifecycle(model: Model, ids: ReadonlySet<string>): Generator<Finding> {
  const { ends, successor } = model;
  if (hasEnded(model)) {
    yield {
      pointer: '/ends',
      reason: `the model ended on ${ends}: reduce the row to id, ended and successor`,
    };
  } else if (endsSoon(model))
    yield { pointer: '/ends', reason: `the model ends on ${ends}`, isWarning: true };
  if (successor !== undefined) yield* absent('/successor', successor, ids);
}

/** Callers select a server by the first segment of its id, so these must differ. */
function* servers(model: Model, ids: ReadonlySet<string>): Generator<Finding> {
  const names = [model.id, ...model.servers].map(visibleProvider);
  for (const [index, id] of model.servers.entries()) {
    const pointer = `/servers/${index}`;
    const name = visibleProvider(id);
    if (names.indexOf(name) <= index) yield { pointer, reason: `${name} already serves this model` };
    else yield* absent(pointer, id, ids);
  }
}

function* absent(pointer: string, id: string, ids: ReadonlySet<string>): Generator<Finding> {
  if (!ids.has(id)) yield { pointer, reason: `there is no model ${id}`, isWarning: true };
}

const summary = (entries: CounterExample['errors']): string =>
  entries
    .map(({ loc, type }) => `${JSON.stringify(loc)} ${type}`)
    .sort()
    .join('; ');

/** Whether a branch of the schema declares the field at the pointer. `*` stands for every array element. */
function declares(schema: JsonSchema, pointer: string): boolean {
  let reached: JsonSchema[] = [schema];
  for (const segment of pointerSegments(pointer)) {
    reached = reached.flatMap(unfold).flatMap((branch) => step(branch, segment));
  }
  return reached.length > 0;
}

const unfold = (schema: JsonSchema): JsonSchema[] => [
  schema,
  ...[...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(unfold),
];

function step(schema: JsonSchema, segment: string): JsonSchema[] {
  const child = segment === '*' ? schema.items : schema.properties?.[segment];
  return child === undefined ? [] : [child];
}

/** JSON Schemas of the files of a catalog directory, for completion and checks in editors. */
export const catalogSchemas = {
  model: () =>
    editorSchema(z.union([modelRow, extendingRow, endedRow, hidingRow]), 'A model of a catalog directory'),
  provider: () => editorSchema(providerRow, 'A provider declared in a catalog directory'),
};

const editorSchema = (shape: z.ZodType, title: string): Record<string, unknown> => ({
  title,
  ...z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' }),
});
