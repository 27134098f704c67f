import type { McpServer } from '@modelcontextprotocol/server';
import { routerModality, type RouterModelFullEntry, routerTask, shortened } from '#schemas';
import { z } from 'zod';
import { type ModelDocument, summaryOf } from '../models/model-summary.js';
import { model, optional, optionalBoolean, runInput } from './arguments.js';
import type { OwnRoutes } from './own-routes.js';
import { bodyOf, failureResult, structuredResult, textResult, unknownFieldsIn } from './tool-results.js';

/** The most that one page of models takes, in bytes of JSON. */
const maxPageBytes = 3 * 1024;

const foundModel = z.looseObject({
  id: z.string(),
  title: z.string().optional(),
  about: z.string().optional(),
  price: z.string(),
  simulated: z.literal(true).optional(),
});
const foundModels = z.looseObject({
  models: z.array(foundModel),
  total: z.int().describe('The number of models that fit, on all pages.'),
  next_cursor: z.string().optional(),
});

const modelSummary = z.looseObject({
  model: z.string(),
  about: z.string().optional(),
  ends: z.string().optional(),
  successor: z.string().optional(),
  takes: z.array(z.string()).optional(),
  gives: z.array(z.string()).optional(),
  price: z.string().optional(),
  output: z.string().optional().describe('The media type of the output.'),
  inputs: z.record(z.string(), z.string()),
  more_inputs: z.array(z.string()).optional(),
  example: z.unknown().optional(),
  notes: z.string().optional(),
});

const costEstimate = z.looseObject({
  expected_cents: z.number(),
  reserved_cents: z.number(),
  max_cents: z.number(),
  basis: z.string(),
  unknown_fields: z.string().optional(),
});

/** Tools that read the catalog and run nothing. */
export function registerCatalogTools(server: McpServer, routes: OwnRoutes, input: Buffer | undefined): void {
  const annotations = { readOnlyHint: true, openWorldHint: false };

  server.registerTool(
    'find_models',
    {
      title: 'Find models',
      description: 'Lists models that you can run, with their price. Give the task, if you know it.',
      inputSchema: z.object({
        task: optional(z.enum(routerTask.options)).describe('What the model does.'),
        query: optional(z.string()).describe('Words in the name or description.'),
        provider: optional(z.string()).describe('The first part of the model id.'),
        modality: optional(z.enum(routerModality.options)).describe('The kind of output.'),
        cursor: optional(z.string()).describe('next_cursor of the previous page.'),
      }),
      outputSchema: foundModels,
      annotations,
    },
    async ({ task, query, provider, modality, cursor }) => {
      const filters = { q: query, provider, modality };
      const found = await entriesOf(routes, filters);
      if (!Array.isArray(found)) return failureResult(found);
      const fits = (entry: RouterModelFullEntry) => task === undefined || entry.tasks.includes(task);
      const order = ranked(found.filter(fits), query);
      // The route wants all words. An agent would take an empty list for a missing ability, and a model that only mentions
      // the words for the only one.
      if (query && !found.some((entry) => isNamed(entry, query))) {
        const all = await entriesOf(routes, { ...filters, q: undefined });
        if (!Array.isArray(all)) return failureResult(all);
        const known = new Set(order.map(({ id }) => id));
        order.push(...closest(all.filter(fits), query).filter(({ id }) => !known.has(id)));
      }
      return structuredResult(pageOf(order, Number.parseInt(cursor ?? '0', 10) || 0));
    },
  );

  server.registerTool(
    'describe_model',
    {
      title: 'Describe a model',
      description:
        'Shows what a model takes and gives, with an example and its price. The whole OpenAPI document on request.',
      inputSchema: z.object({
        model,
        full: optionalBoolean().describe('Whether to return the OpenAPI document, about 25 KB.'),
      }),
      outputSchema: modelSummary,
      annotations,
    },
    async ({ model: id, full }) => {
      const answer = await routes('GET', `/v2/models/${id}/openapi.json`);
      if (answer.status !== 200) return failureResult(answer);
      const document = (await bodyOf(answer)) as unknown as ModelDocument;
      const summary = structuredResult({ ...summaryOf(document) });
      return full === true ? { ...summary, ...textResult(document) } : summary;
    },
  );

  server.registerTool(
    'estimate_cost',
    {
      title: 'Estimate the cost of a run',
      description:
        'Checks an input and returns what a run with it costs, in US cents: expected, and at most. Runs nothing.',
      inputSchema: z.object({ model, input: runInput }),
      outputSchema: costEstimate,
      annotations,
    },
    async ({ model: id }) => {
      const answer = await routes('POST', `/v2/models/${id}/cost`, { ...(input && { body: input }) });
      if (answer.status !== 200) return failureResult(answer);
      return structuredResult({ ...(await bodyOf(answer)), ...unknownFieldsIn(answer) });
    },
  );
}

/** All models that match the filters of the list's route, or the route's failure. */
async function entriesOf(routes: OwnRoutes, filters: Readonly<Record<string, string | undefined>>) {
  const entries: RouterModelFullEntry[] = [];
  let cursor: string | undefined;
  do {
    const given = Object.entries({ view: 'full', limit: '100', ...filters, cursor });
    const query = new URLSearchParams(
      given.filter((each): each is [string, string] => each[1] !== undefined),
    );
    const answer = await routes('GET', `/v2/models?${query.toString()}`);
    if (answer.status !== 200) return answer;
    const page = (await bodyOf(answer)) as { data: RouterModelFullEntry[]; next_cursor?: string };
    entries.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return entries;
}

/**
 * Models whose name has the words first. Otherwise one model of each provider, then the second of each, so that the
 * first page shows the choice and not the start of the alphabet.
 */
function ranked(entries: readonly RouterModelFullEntry[], query = ''): RouterModelFullEntry[] {
  const counts = new Map<string, number>();
  const placed = entries.map((entry) => {
    const place = counts.get(entry.provider) ?? 0;
    counts.set(entry.provider, place + 1);
    return { entry, named: isNamed(entry, query), place };
  });
  return placed
    .sort((one, other) => Number(other.named) - Number(one.named) || one.place - other.place)
    .map(({ entry }) => entry);
}

/** Whether the name of a model has all words of a query. */
function isNamed({ id, title = '' }: RouterModelFullEntry, query: string): boolean {
  const name = `${id} ${title}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.includes(word));
}

/** Models that share the most words with a query, or with the tasks that it names. Words may have a typo. */
function closest(entries: readonly RouterModelFullEntry[], query = ''): RouterModelFullEntry[] {
  const words = wordsOf(query).filter((word) => word.length > 2);
  const scored = ranked(entries).map((entry) => {
    const own = wordsOf(
      [
        entry.id,
        entry.title,
        entry.description,
        ...entry.tasks.map((task) => task.replaceAll('-', ' ')),
      ].join(' '),
    );
    const score = words.filter((word) => own.some((each) => isClose(each, word))).length;
    return { entry, score };
  });
  const best = Math.max(1, ...scored.map(({ score }) => score));
  return scored.filter(({ score }) => score === best).map(({ entry }) => entry);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d.]+/gu) ?? [];

/** Whether the words are equal, or differ by one letter that is missing, added or another. */
function isClose(one: string, other: string): boolean {
  if (one === other) return true;
  if (Math.min(one.length, other.length) < 5 || Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end))
    end += 1;
  return Math.max(one.length, other.length) - start - end <= 1;
}

/** As many models from a place on as fit into a page, at least one. */
function pageOf(entries: readonly RouterModelFullEntry[], from: number): z.infer<typeof foundModels> {
  const models: z.infer<typeof foundModel>[] = [];
  // Leaves room for the members beside the list.
  let bytes = 100;
  for (const { id, title, description, price, simulated } of entries.slice(from)) {
    const found = {
      id,
      ...(title !== undefined && { title: shortened(title, 80) }),
      ...(description !== undefined && { about: shortened(description, 120) }),
      price: `from $${price.from_usd} / ${shortened(price.unit, 60)}`,
      ...(simulated && { simulated }),
    };
    bytes += Buffer.byteLength(JSON.stringify(found)) + 1;
    if (bytes > maxPageBytes && models.length > 0) break;
    models.push(found);
  }
  const next = from + models.length;
  return { models, total: entries.length, ...(next < entries.length && { next_cursor: String(next) }) };
}
