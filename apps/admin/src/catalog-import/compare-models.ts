import { isDeepStrictEqual } from 'node:util';
import { checkRow, type JsonSchema, type Model } from '#catalog';
import { documentsOf, type Found, type Source, unpublished } from './draft.js';
import { branchesOf, listedValues, plain } from './schema-facts.js';

/** The differences between the catalog and a source. */
export interface Drift {
  added: string[];
  removed: { id: string; name: string }[];
  deprecated: { id: string; name: string }[];
  changed: { id: string; changes: string[] }[];
  /** Models that could not be compared, and the reason. */
  skipped: { name: string; reason: string }[];
}

/**
 * Compares rows with what their source publishes now: whether the models still exist and, for rows of an import, the
 * fields of the input and the price. `listsAdded` also looks for models that have no row.
 */
export async function compareModels(
  source: Source,
  rows: readonly Model[],
  { listsAdded, signal }: { listsAdded: boolean; signal: AbortSignal },
): Promise<Drift> {
  const drift: Drift = { added: [], removed: [], deprecated: [], changed: [], skipped: [] };
  const byName = new Map<string, Model[]>();
  for (const row of rows) {
    const name = source.nameOf(row);
    if (name !== undefined) byName.set(name, [...(byName.get(name) ?? []), row]);
  }
  for await (const found of source.drafts([...byName.keys()])) {
    signal.throwIfAborted();
    for (const row of byName.get(found.name) ?? []) compareOne(drift, row, found, source);
  }
  if (listsAdded && source.names) {
    const served = new Set([...byName.keys(), ...rows.flatMap(otherNames)]);
    for await (const { name, ...rest } of source.names()) {
      signal.throwIfAborted();
      if ('skipped' in rest) drift.skipped.push({ name, reason: rest.skipped });
      else if (!served.has(name)) drift.added.push(name);
    }
  }
  return drift;
}

/** Names by which callers and inputs may also name the model. */
const otherNames = ({ id, aliases, snapshots }: Model): string[] => [
  ...[id, ...aliases].map((name) => name.slice(name.indexOf('/') + 1)),
  ...snapshots,
];

function compareOne(drift: Drift, row: Model, found: Found, source: Source): void {
  const { id } = row;
  const { name } = found;
  if ('skipped' in found && found.skipped === unpublished) {
    drift.removed.push({ id, name });
    return;
  }
  if (found.isDeprecated) drift.deprecated.push({ id, name });
  // A row that was written by hand describes a model in other words, so its fields always differ.
  if (row.generated === undefined) return;
  if ('skipped' in found) {
    drift.skipped.push({ name, reason: found.skipped });
    return;
  }
  const { model, problems } = checkRow(found.draft.row, documentsOf(found.draft));
  if (!model) {
    drift.skipped.push({ name, reason: problems.map(({ reason }) => reason).join('; ') });
    return;
  }
  const changes = [
    ...fieldChanges(row.input, model.input),
    ...addressChanges(row, model),
    ...(source.comparesPrice(row) ? priceChanges(row, model) : []),
  ];
  if (changes.length > 0) drift.changed.push({ id, changes });
}

interface Field {
  facts: Record<string, unknown>;
  values: string[];
}

function fieldChanges(before: JsonSchema, now: JsonSchema): string[] {
  const [old, current] = [before, now].map((schema) => new Map(fieldsOf(schema, '', 0)));
  if (!old || !current) return [];
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((pointer) => {
    const [was, is] = [old.get(pointer), current.get(pointer)];
    if (!was) return [`${pointer}: new field`];
    if (!is) return [`${pointer}: field removed`];
    const gone = was.values.filter((value) => !is.values.includes(value));
    const added = is.values.filter((value) => !was.values.includes(value));
    const facts = Object.keys({ ...was.facts, ...is.facts }).filter(
      (name) => !isDeepStrictEqual(was.facts[name], is.facts[name]),
    );
    return [
      ...(added.length > 0 ? [`${pointer}: new values ${added.join(', ')}`] : []),
      ...(gone.length > 0 ? [`${pointer}: values removed ${gone.join(', ')}`] : []),
      ...facts.map((name) => `${pointer}: ${name} ${text(was.facts[name])} is now ${text(is.facts[name])}`),
    ];
  });
}

const text = (value: unknown): string => (value === undefined ? 'absent' : JSON.stringify(value));

const compared = [
  'type',
  'default',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'pattern',
] as const;

function fieldsOf(schema: JsonSchema, pointer: string, depth: number): [string, Field][] {
  if (depth > 8) return [];
  const required = new Set(branchesOf(schema).flatMap((each) => each.required ?? []));
  return branchesOf(schema).flatMap(({ properties = {}, items }) => [
    ...Object.entries(properties).flatMap(([name, each]): [string, Field][] => {
      const at = `${pointer}/${name}`;
      const facts = Object.fromEntries(compared.map((fact) => [fact, plain(each)[fact]]));
      const values = listedValues(each).map((value) => JSON.stringify(value));
      return [
        [at, { facts: { ...facts, required: required.has(name) }, values }],
        ...fieldsOf(each, at, depth + 1),
      ];
    }),
    ...(items === undefined ? [] : fieldsOf(items, `${pointer}/*`, depth + 1)),
  ]);
}

const addressChanges = (row: Model, model: Model): string[] =>
  Object.keys({ ...row.upstream, ...model.upstream })
    .filter((name) => row.upstream[name] !== model.upstream[name])
    .map((name) => `upstream.${name}: ${text(row.upstream[name])} is now ${text(model.upstream[name])}`);

function priceChanges({ price: was }: Model, { price: is }: Model): string[] {
  if (isDeepStrictEqual(amountsOf(was), amountsOf(is))) return [];
  return [`price: ${JSON.stringify(amountsOf(was))} is now ${JSON.stringify(amountsOf(is))}`];
}

const amountsOf = ({ source: _source, date: _date, ...amounts }: Model['price']) => amounts;
