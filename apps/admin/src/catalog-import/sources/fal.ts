import { intake, type JsonSchema, type Model, modelAlias } from '#catalog';
import { valueAt } from '#schemas';
import { z } from 'zod';
import {
  type Draft,
  documentsOf,
  fileBase,
  type Found,
  joinedSegments,
  shortened,
  type Source,
  storedDocument,
  unpublished,
  withExample,
} from '../draft.js';
import { falPrice, type UnitPrice } from '../fal-price.js';
import { modalitiesOf } from '../modalities.js';
import { filePointers, linkPointers } from '../schema-facts.js';
import { failureText, type SourceApi, SourceFailure } from '../source-api.js';

/** Only the fields that are used. */
const endpoint = z.object({
  endpoint_id: z.string().min(1),
  metadata: z
    .object({
      display_name: z.string().optional(),
      category: z.string().optional(),
      description: z.string().optional(),
      status: z.string().optional(),
    })
    .default({}),
  openapi: z.record(z.string(), z.unknown()).optional(),
});
type Endpoint = z.infer<typeof endpoint>;

const pageShape = z.object({ models: z.array(z.unknown()), next_cursor: z.string().nullish() });
const unitPrice = z.object({
  endpoint_id: z.string(),
  unit_price: z.number().min(0),
  unit: z.string(),
  currency: z.string(),
});
const pricesShape = z.object({ prices: z.array(z.unknown()) });

const maxIdsPerCall = 50;
/** A cursor that never ends must not keep the command running. */
const maxPages = 1000;

interface FalOptions {
  api: SourceApi;
  hasKey: boolean;
  category?: string | undefined;
  query?: string | undefined;
  /** The operator's upper bound for an endpoint, in US cents. */
  maxCents: (name: string) => number | undefined;
}

/** fal's platform API: `GET /models` and `GET /models/pricing`. */
export function falSource({ api, hasKey, category, query, maxCents }: FalOptions): Source {
  const filters: [string, string][] = [
    ...(category === undefined ? [] : [['category', category] as [string, string]]),
    ...(query === undefined ? [] : [['q', query] as [string, string]]),
  ];

  async function* pages(queries: readonly [string, string][]): AsyncGenerator<unknown[]> {
    let cursor: string | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      const reply = await api.get('/models', [
        ...queries,
        ...(cursor === undefined ? [] : [['cursor', cursor] as const]),
      ]);
      const { data } = pageShape.safeParse(reply);
      if (data === undefined) throw new SourceFailure(`${api.base}/models did not return a page of models`);
      yield data.models;
      if (!data.next_cursor || data.next_cursor === cursor) return;
      cursor = data.next_cursor;
    }
  }

  async function prices(ids: readonly string[]): Promise<Map<string, UnitPrice>> {
    const found = new Map<string, UnitPrice>();
    if (!hasKey) return found;
    for (const some of chunks(ids)) {
      const reply = pricesShape.safeParse(
        await api.get(
          '/models/pricing',
          some.map((id) => ['endpoint_id', id]),
        ),
      );
      for (const each of reply.data?.prices ?? []) {
        const { data } = unitPrice.safeParse(each);
        if (data) found.set(data.endpoint_id, data);
      }
    }
    return found;
  }

  async function* draftsOf(models: readonly unknown[]): AsyncGenerator<Found> {
    const endpoints: Endpoint[] = [];
    for (const each of models) {
      const { data } = endpoint.safeParse(each);
      if (data) endpoints.push(data);
      else
        yield {
          name: nameOfEntry(each),
          skipped: 'it is not a model',
        };
    }
    let known: Map<string, UnitPrice>;
    try {
      known = await prices(endpoints.map(({ endpoint_id: id }) => id));
    } catch (error) {
      const skipped = failureText(error);
      for (const { endpoint_id: name } of endpoints) yield { name, skipped };
      return;
    }
    for (const each of endpoints) {
      const { endpoint_id: name, metadata } = each;
      const state = metadata.status === 'deprecated' ? { isDeprecated: true as const } : {};
      yield { name, ...state, ...draftOf(each, api.base, known.get(name), maxCents(name)) };
    }
  }

  async function* named(names: readonly string[]): AsyncGenerator<Found> {
    for (const some of chunks(names)) {
      const seen = new Set<string>();
      try {
        for await (const models of pages([
          ['expand', 'openapi-3.0'],
          ...some.map((id): [string, string] => ['endpoint_id', id]),
        ])) {
          for await (const found of draftsOf(models)) {
            seen.add(found.name);
            yield found;
          }
        }
      } catch (error) {
        // fal answers 404 if one of the ids is unknown, so the others are read one by one.
        if (error instanceof SourceFailure && error.status === 404 && some.length > 1) {
          for (const id of some) yield* named([id]);
        } else {
          const isUnknown = error instanceof SourceFailure && error.status === 404;
          const skipped = isUnknown ? unpublished : failureText(error);
          for (const name of some.filter((id) => !seen.has(id))) yield { name, skipped };
        }
        continue;
      }
      for (const name of some.filter((id) => !seen.has(id))) yield { name, skipped: unpublished };
    }
  }

  async function* listed(more: readonly [string, string][]): AsyncGenerator<unknown[]> {
    yield* pages([['status', 'active'], ...filters, ...more]);
  }

  return {
    provider: 'fal',
    comparesPrice: () => hasKey,
    nameOf: ({ upstream }: Model) => upstream.path,
    async *drafts(names) {
      if (names) return yield* named(names);
      try {
        for await (const models of listed([['expand', 'openapi-3.0']])) yield* draftsOf(models);
      } catch (error) {
        yield { name: 'the rest of the list', skipped: failureText(error) };
      }
    },
    async *names() {
      try {
        for await (const models of listed([])) {
          for (const each of models) yield { name: nameOfEntry(each) };
        }
      } catch (error) {
        yield { name: 'the rest of the list', skipped: failureText(error) };
      }
    },
  };
}

function nameOfEntry(entry: unknown): string {
  const id = valueAt(entry, '/endpoint_id');
  return typeof id === 'string' ? id : 'an entry of the list';
}

const chunks = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / maxIdsPerCall) }, (_none, at) =>
    ids.slice(at * maxIdsPerCall, (at + 1) * maxIdsPerCall),
  );

function draftOf(
  { endpoint_id: name, metadata, openapi }: Endpoint,
  base: string,
  published: UnitPrice | undefined,
  maxCents: number | undefined,
): { draft: Draft; bounded?: string } | { skipped: string } {
  const segment = joinedSegments(name.replace(/^fal-ai\//, ''));
  if (segment === undefined) return { skipped: 'its name does not form an id' };
  const schemas = openapi && schemaPlaces(openapi, name);
  if (schemas === undefined) return { skipped: 'it has no schema' };
  const id = `fal/${segment}`;
  const document = storedDocument(fileBase(id), openapi);
  const refTo = (pointer: string) => ({ $ref: `${document.name}#${pointer}` });
  const draft = {
    base: fileBase(id),
    from: `${base}/models?endpoint_id=${encodeURIComponent(name)}`,
    document,
  };
  const documents = documentsOf(draft);
  const { schema: input, problems } = intake(refTo(schemas.input), documents);
  const [problem] = problems;
  if (problem) return { skipped: problem.message };
  const output: JsonSchema =
    schemas.output === undefined ? {} : intake(refTo(schemas.output), documents).schema;
  const { category } = metadata;
  const priced = falPrice(published, { input, category, maxCents, source: `${base}/models/pricing` });
  if ('skipped' in priced) return priced;
  const files = filePointers(output);
  const row: Record<string, unknown> = {
    id,
    ...(modelAlias.safeParse(name).success && { aliases: [name] }),
    title: shortened(metadata.display_name, 100),
    description: shortened(metadata.description, 300),
    modalities: modalitiesOf(category, input),
    upstream: { path: name },
    charges_on_policy_rejection: 'unknown',
    price: priced.price,
    assets: files.length > 0 ? files : linkPointers(output, '').filter((pointer) => pointer !== ''),
    input: refTo(schemas.input),
    output: {
      media_type: 'application/json',
      ...(schemas.output !== undefined && { schema: refTo(schemas.output) }),
    },
  };
  const { bounded } = priced;
  return {
    draft: withExample({ ...draft, row }),
    ...(bounded !== undefined && { bounded }),
  };
}

/** The places of the input and the output in a document: by its paths, or else by the names of its schemas. */
function schemaPlaces(
  openapi: Record<string, unknown>,
  name: string,
): { input: string; output?: string } | undefined {
  const paths = Object.entries((openapi['paths'] as object | undefined) ?? {}) as [string, unknown][];
  const json = '/content/application~1json/schema/$ref';
  const posted = valueAt(paths.find(([path]) => path === `/${name}`)?.[1], `/post/requestBody${json}`);
  const result = paths.find(([path]) => path.endsWith('/requests/{request_id}'))?.[1];
  const returned = valueAt(result, `/get/responses/200${json}`);
  const names = Object.keys((valueAt(openapi, '/components/schemas') as object | undefined) ?? {});
  const byEnding = (ending: string) => {
    const found = names.filter((each) => each.endsWith(ending));
    return found.length === 1 ? `/components/schemas/${found[0]}` : undefined;
  };
  const input = localPointer(posted) ?? byEnding('Input');
  const output = localPointer(returned) ?? byEnding('Output');
  return input === undefined ? undefined : { input, ...(output !== undefined && { output }) };
}

const localPointer = (reference: unknown): string | undefined =>
  typeof reference === 'string' && reference.startsWith('#/') ? reference.slice(1) : undefined;
