import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadCatalog, type Model } from '#catalog';
import { type ProviderAdapter, providerList, type Run } from '#providers';
import { type JsonPointer, placesOf } from '#schemas';
import { fixtureFolders, openFixtures } from '../../libs/providers/src/testing/fixtures.js';
import { checkout } from '../../apps/local/src/checkout.js';

/** The time budget, in seconds, of the rows whose budget a test spends. */
const shortBudgetS = 3;

export interface TestedRow {
  provider: string;
  model: string;
  /** The same row with a short time budget; it exists once its file does. */
  short: string;
  example: Record<string, unknown>;
  /** The members that the router puts first into the caller's object. */
  members: Record<string, unknown>;
  /** `poll` if the submission returns a handle; `fetch` if the result then takes a separate call. */
  answers: 'at once' | 'poll' | 'fetch';
  wraps: 'not' | 'envelope' | 'list' | 'form';
  uploads: JsonPointer[];
}

/** One row of every protocol of every provider. Their short twins are written to the folder. */
export async function testedRows(folder?: string): Promise<TestedRow[]> {
  const { models } = await loadCatalog();
  return providerList.flatMap(({ name }) => {
    // Words in the prompt control the simulated provider.
    const ofProvider = models.filter(
      (model) =>
        model.provider === name &&
        withWords(model.example, '') !== undefined &&
        !/^extends: /m.test(fileOf(model)),
    );
    const kinds = new Map(ofProvider.toReversed().map((model) => [kindOf(model), model]));
    return [...kinds.values()].map((model): TestedRow => {
      if (folder !== undefined) writeShortTwin(model, folder);
      return {
        provider: name,
        model: model.id,
        short: `${model.id}-short`,
        example: model.example ?? {},
        members: model.constants ?? {},
        answers: resultOf(model),
        wraps: wrappingOf(model),
        uploads: uploadsOf(model, JSON.stringify(model.example)),
      };
    });
  });
}

/** How the caller's bytes reach the provider of this row. */
export function wrappingOf(model: Model): TestedRow['wraps'] {
  const { body = '' } = adapterOf(model).submit(runOf(model, '{"a":1}'));
  const sent = Buffer.from(body).toString();
  if (sent === '{"a":1}') return 'not';
  if (sent.startsWith('[')) return 'list';
  return sent.startsWith('{') ? 'envelope' : 'form';
}

/** The places of files that the provider gets by an upload, and then by its own id. */
export function uploadsOf(model: Model, body: string): JsonPointer[] {
  const uses = adapterOf(model).files?.(runOf(model, body)) ?? [];
  return uses.filter(({ upload }) => upload).map(({ path: place }): JsonPointer => `/${place.join('/')}`);
}

export function withoutUploads(text: string, pointers: readonly JsonPointer[]): string {
  const bytes = Buffer.from(text);
  const places = placesOf(bytes, pointers).toSorted((one, other) => other.start - one.start);
  return places
    .reduce((rest, { start, end }) => Buffer.concat([rest.subarray(0, start), rest.subarray(end)]), bytes)
    .toString();
}

function adapterOf({ provider }: Model): ProviderAdapter {
  const definition = providerList.find(({ name }) => name === provider);
  if (!definition) throw new Error(`unknown provider ${provider}`);
  return definition.create(definition.defaultBase, {});
}

const runOf = ({ id, upstream }: Model, body: string): Run => ({
  runId: 'r',
  model: id,
  upstream,
  body: Buffer.from(body),
});

/** Which reply holds the result, according to the fixtures of the row's protocol. */
function resultOf({ provider, id, upstream }: Model): TestedRow['answers'] {
  const found = fixtureFolders(provider)
    .map((folder) => openFixtures(folder).facts)
    .find(({ run }) => run.upstream['protocol'] === upstream['protocol']);
  if (!found) throw new Error(`no fixtures for the protocol of ${id}`);
  return found.result === 'submit' ? 'at once' : found.result;
}

const kindOf = ({ upstream, output }: Model): string => `${upstream['protocol']} ${output?.mediaType}`;

function fileOf({ id, provider }: Model): string {
  const [, model] = id.split('/');
  return readFileSync(
    path.join(checkout, 'libs/providers/src/providers', provider, 'models', `${model}.yaml`),
    'utf8',
  );
}

function writeShortTwin(row: Model, folder: string): void {
  const { id, provider } = row;
  const [, model] = id.split('/');
  const text = fileOf(row)
    .replace(/^budget_seconds: .*\n/m, '')
    .replace(/^aliases: \[[^\]]*\]\n/m, '')
    .replace(/^id: .*$/m, `id: ${id}-short`);
  writeFileSync(path.join(folder, `${provider}-${model}.yaml`), `${text}budget_seconds: ${shortBudgetS}\n`);
}

const texts = new Set([
  'prompt',
  'Prompt',
  'positivePrompt',
  'promptText',
  'input',
  'text',
  'negative_prompt',
  'text_prompt',
  'instruction',
  'content',
]);

/** The example with `words` appended to its prompt, wherever this model has it; undefined without a prompt. */
export function withWords(value: unknown, words: string): unknown {
  let found = false;
  const walk = (each: unknown, name: string): unknown => {
    if (typeof each === 'string' && texts.has(name) && !found) {
      found = true;
      return `${each} ${words}`;
    }
    if (Array.isArray(each)) return each.map((member) => walk(member, name));
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, member]) => [key, walk(member, key)]));
  };
  const changed = walk(value, '');
  return found ? changed : undefined;
}
