import { providerRow } from '#providers';
import { pointerFrom, pointerSegments } from '#schemas';
import { z } from 'zod';
import { callbackField } from './accepted-input.js';
import { inputErrors } from './check-input.js';
import type { JsonSchema } from './json-schema.js';
import { type CounterExample, endsSoon, hasEnded, type Model, visibleProvider } from './model.js';
import { endedRow, hidingRow, extendingRow, modelRow } from './model-row.js';
import { pricePointers } from './price.js';
import { builtInDirectories, type CatalogSources, layered } from './load-catalog.js';
import { type CatalogProblem, readDirectory } from './read-rows.js';

type Finding = Omit<CatalogProblem, 'file'>;

/**
 * Everything `loadCatalog` checks and what only an operator waits for: pointers name declared fields, examples pass and
 * counter-examples fail as stated, no model has ended. A warning tells of one that ends within thirty days.
 */
export async function checkCatalog(
  { directories = builtInDirectories(), builtIn }: CatalogSources = {},
  checking: (models: number, of: number) => void = () => {},
): Promise<CatalogProblem[]> {
  const { models, ended, problems } = layered(await Promise.all(directories.map(readDirectory)), builtIn);
  const ids = new Set([...models.map(({ model }) => model.id), ...ended.map(({ id }) => id)]);
  return [
    ...problems,
    ...models.flatMap(({ file, model }, index) => {
      checking(index + 1, models.length);
      return [...findings(model), ...lifecycle(model, ids), ...servers(model, ids)].map((finding) => ({
        file,
        ...finding,
      }));
    }),
  ];
}

function findings(model: Model): Finding[] {
  return [
    ...callbackFields(model),
    ...undeclared(model.isAuthored ? model.input : undefined, pricePointers(model.price), () => '/price'),
    ...model.variants.flatMap(({ contains }, index) =>
      undeclared(model.isAuthored ? model.input : undefined, contains, () => `/variants/${index}/contains`),
    ),
    ...undeclared(model.output?.schema, model.assetPointers, (index) => `/assets/${index}`),
    ...failedExample(model),
    ...model.counterExamples.flatMap((counterExample, index) =>
      passedCounterExample(model, counterExample, `/counter_examples/${index}`),
    ),
  ];
}

function lifecycle(model: Model, ids: ReadonlySet<string>): Finding[] {
  const { ends, successor } = model;
  const findings: Finding[] = [];
  if (hasEnded(model)) {
    findings.push({
      pointer: '/ends',
      reason: `ended on ${ends}: a row of id, ended and successor is enough`,
    });
  } else if (endsSoon(model)) {
    findings.push({ pointer: '/ends', reason: `ends on ${ends}`, isWarning: true });
  }
  if (successor !== undefined && !ids.has(successor)) {
    findings.push({ pointer: '/successor', reason: `there is no model ${successor}`, isWarning: true });
  }
  return findings;
}

/** Callers pick a server by the first segment of its id. */
function servers(model: Model, ids: ReadonlySet<string>): Finding[] {
  const names = [model.id, ...model.servers].map(visibleProvider);
  return model.servers.flatMap((id, index) => {
    const pointer = `/servers/${index}`;
    if (names.indexOf(visibleProvider(id)) <= index) {
      return [{ pointer, reason: `${visibleProvider(id)} serves it already` }];
    }
    return ids.has(id) ? [] : [{ pointer, reason: `there is no model ${id}`, isWarning: true }];
  });
}

const callbackFields = ({ input }: Model): Finding[] =>
  Object.keys(input.properties ?? {})
    .filter((name) => callbackField.test(name))
    .map((name) => ({
      pointer: pointerFrom(['input', 'properties', name]),
      reason: 'a field that makes the provider deliver elsewhere is always refused',
    }));

const undeclared = (
  schema: JsonSchema | undefined,
  pointers: readonly string[],
  place: (index: number) => string,
): Finding[] =>
  schema === undefined
    ? []
    : pointers.flatMap((pointer, index) =>
        declares(schema, pointer)
          ? []
          : [{ pointer: place(index), reason: `the schema declares nothing at ${pointer}` }],
      );

function failedExample(model: Model): Finding[] {
  if (model.example === undefined) {
    return model.isAuthored ? [{ pointer: '/example', reason: 'an authored schema has one' }] : [];
  }
  // With the members that name the model and without: both are complete.
  const { example, constants = {} } = model;
  const bare = Object.fromEntries(
    Object.entries(example).filter(([name]) => !Object.hasOwn(constants, name)),
  );
  const refused = [example, bare, { ...constants, ...bare }].map((input) => inputErrors(model, input));
  return (refused.find((errors) => errors.length > 0) ?? []).map(({ loc, type, msg }) => ({
    pointer: pointerFrom(['example', ...loc.slice(1)]),
    reason: `the schema refuses it: ${type}, ${msg}`,
  }));
}

function passedCounterExample(model: Model, { input, errors }: CounterExample, pointer: string): Finding[] {
  const stated = summary(errors);
  const found = summary(inputErrors(model, input));
  return stated === found ? [] : [{ pointer, reason: `fails with ${found || 'nothing'}, not ${stated}` }];
}

const summary = (entries: CounterExample['errors']): string =>
  entries
    .map(({ loc, type }) => `${JSON.stringify(loc)} ${type}`)
    .sort()
    .join('; ');

/** Whether some branch of `schema` declares what `pointer` names; `*` stands for every array element. */
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

/** JSON Schema of the files of a catalog directory, for editors that complete and check while one types. */
export const catalogSchemas = {
  model: () =>
    editorSchema(z.union([modelRow, extendingRow, endedRow, hidingRow]), 'A model of a catalog directory'),
  provider: () => editorSchema(providerRow, 'A provider declared in a catalog directory'),
};

const editorSchema = (shape: z.ZodType, title: string): Record<string, unknown> => ({
  title,
  ...z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' }),
});
