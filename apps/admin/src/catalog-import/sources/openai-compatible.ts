import type { Model } from '#catalog';
import { z } from 'zod';
import {
  type Draft,
  fileBase,
  type Found,
  joinedSegments,
  type Source,
  today,
  unpublished,
} from '../draft.js';
import { failureText, type SourceApi, SourceFailure } from '../source-api.js';
import { type ServedKind, statedKind } from './served/served-kind.js';
import { contextOf, endOf, readModalities, servedModel, type ServedModel } from './served/served-model.js';
import { ofMillion, publishedImagePrice, publishedPrice, type TokenPrice } from './served/served-price.js';
import {
  chatRow,
  declarationOf,
  embeddingRow,
  imageRow,
  kindOfPath,
  type ServedRow,
} from './served/served-rows.js';

const listShape = z.union([
  z.object({ data: z.array(z.unknown()) }),
  z.array(z.unknown()).transform((data) => ({ data })),
]);

/** Facts of the operator. They take precedence over the server’s, except the kind. */
export interface OperatorFacts {
  /** The kind of models of which the server does not state it. */
  kind?: ServedKind | undefined;
  /** The length of the context, in tokens. */
  contextTokens?: number | undefined;
  usdPerMillionInput?: number | undefined;
  usdPerMillionOutput?: number | undefined;
  /** The price of an image, in US cents. */
  imageCents?: number | undefined;
}

interface ServerOptions {
  /** The provider's name. */
  name: string;
  api: SourceApi;
  /** Whether the provider's declaration is among the drafts. */
  declares: boolean;
  /** The operator's facts about the model of this name. */
  facts: (name: string) => OperatorFacts;
}

const operatorsPrice = 'the operator’s price';

type Entry = { name: string } & ({ model: ServedModel } | { skipped: string });

/** A server with OpenAI's API: `GET /models`, chat completions, and embeddings or images by the kind of the model. */
export function openAiCompatibleSource(options: ServerOptions): Source {
  const { name: provider, api } = options;
  async function listed(): Promise<Entry[]> {
    const { data } = listShape.safeParse(await api.get('/models'));
    if (data === undefined) throw new SourceFailure(`${api.base}/models did not return a list of models`);
    return data.data.map((each, index) => {
      const { data: model } = servedModel.safeParse(each);
      return model
        ? { name: model.id, model }
        : { name: `entry ${index + 1} of the list`, skipped: 'it has no id' };
    });
  }
  return {
    provider,
    comparesPrice: ({ price }) => price.source !== operatorsPrice,
    nameOf: ({ generated, constants }) => {
      const [, name] = generated?.from.split('#') ?? [];
      return name === undefined ? (constants?.['model'] as string | undefined) : decodeURIComponent(name);
    },
    async *drafts(names): AsyncGenerator<Found> {
      if (options.declares) yield { name: provider, draft: declarationOf(provider, api.base) };
      let entries: Entry[];
      try {
        entries = await listed();
      } catch (error) {
        const skipped = failureText(error);
        for (const name of names ?? [`the models of ${provider}`]) yield { name, skipped };
        return;
      }
      const all = new Set(entries.map(({ name }) => name));
      for (const { name, ...entry } of entries) {
        if (names && !names.includes(name)) continue;
        yield { name, ...('skipped' in entry ? entry : draftOf(entry.model, options, all)) };
      }
      for (const name of names ?? []) if (!all.has(name)) yield { name, skipped: unpublished };
    },
    async *names() {
      for (const { name, ...entry } of await listed()) {
        yield { name, ...('skipped' in entry && { skipped: entry.skipped }) };
      }
    },
  };
}

/** The facts that the rows of an import had from the operator, so that a comparison does not miss them. */
export function factsOfRow({ upstream, price }: Model): OperatorFacts {
  const kind = kindOfPath(upstream.path);
  const [read] = price.times;
  const contextTokens = read && 'tokens' in read ? read.max : undefined;
  if (price.source !== operatorsPrice) return { kind, contextTokens };
  return { kind, contextTokens, usdPerMillionInput: 0, usdPerMillionOutput: 0, imageCents: 0 };
}

const priceFlags = 'give --usd-per-million-input and --usd-per-million-output';

function draftOf(
  model: ServedModel,
  { name: provider, api, facts }: ServerOptions,
  all: ReadonlySet<string>,
): { draft: Draft } | { skipped: string } {
  const given = facts(model.id);
  const segment = joinedSegments(model.id);
  if (segment === undefined) return { skipped: 'its name does not form an id' };
  if (model.active === false) return { skipped: 'the server says that it is not active' };
  if (model.archived === true) return { skipped: 'the server says that it is archived' };
  const ends = endOf(model);
  if (ends !== undefined && ends <= today()) return { skipped: `the server announced its end for ${ends}` };
  const stated = statedKind(model) ?? (given.kind && { kind: given.kind });
  if (stated === undefined) return { skipped: 'the server does not say what it is for: give --kind' };
  if ('other' in stated) {
    return { skipped: `it is neither for chat, nor for embeddings, nor for images: ${stated.other}` };
  }
  const { kind } = stated;
  const id = `${provider}/${segment}`;
  const replacement = model.deprecation_replacement_model ?? undefined;
  const successor =
    replacement !== undefined && all.has(replacement) ? joinedSegments(replacement) : undefined;
  const row: ServedRow = {
    id,
    title: model.display_name ?? model.name ?? model.id,
    description: model.description ?? undefined,
    reads: kind === 'chat' ? readModalities(model) : ['text'],
    model: model.id,
    ends,
    successor: successor === undefined ? undefined : `${provider}/${successor}`,
  };
  const made =
    kind === 'image' ? imageOf(model, row, given, api.base) : textOf(model, kind, row, given, api.base);
  if ('skipped' in made) return made;
  const draft = { base: fileBase(id), from: `${api.base}/models#${encodeURIComponent(model.id)}` };
  // Without the empty fields.
  return { draft: { ...draft, row: JSON.parse(JSON.stringify(made.row)) as Record<string, unknown> } };
}

type Made = { row: Record<string, unknown> } | { skipped: string };

function imageOf(model: ServedModel, row: ServedRow, { imageCents }: OperatorFacts, base: string): Made {
  if (imageCents !== undefined) return { row: imageRow(row, imageCents / 100, operatorsPrice) };
  const usd = publishedImagePrice(model);
  if (usd === undefined) return { skipped: 'the server publishes no price of an image: give --image-cents' };
  return { row: imageRow(row, usd, `${base}/models: ${usd} dollars per image`) };
}

function textOf(
  model: ServedModel,
  kind: 'chat' | 'embedding',
  row: ServedRow,
  given: OperatorFacts,
  base: string,
): Made {
  const priced = priceOf(model, kind, given, base);
  if ('skipped' in priced) return priced;
  const { price, source } = priced;
  const context = given.contextTokens ?? contextOf(model, price.host);
  if (context === undefined) {
    return { skipped: 'the server does not state the length of its context: give --context-tokens' };
  }
  // A router takes the name of the server after the name of the model.
  const named = price.host === undefined ? row : { ...row, model: `${row.model}:${price.host.provider}` };
  return {
    row:
      kind === 'chat'
        ? chatRow(named, context, price, source)
        : embeddingRow(named, context, price.input, source),
  };
}

function priceOf(
  model: ServedModel,
  kind: 'chat' | 'embedding',
  { usdPerMillionInput, usdPerMillionOutput }: OperatorFacts,
  base: string,
): { price: TokenPrice; source: string } | { skipped: string } {
  const [input, output] = [usdPerMillionInput, usdPerMillionOutput].map(
    (amount) => amount && ofMillion(amount),
  );
  if (input !== undefined && (output !== undefined || kind === 'embedding')) {
    return { price: { input, output: output ?? 0, longer: [], refused: [] }, source: operatorsPrice };
  }
  const published = publishedPrice(model);
  if (published === undefined) return { skipped: `the server publishes no price: ${priceFlags}` };
  if ('problem' in published) return { skipped: `${published.problem}: ${priceFlags}` };
  const price = {
    ...published,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
  };
  const amounts = [price.input, ...(kind === 'chat' ? [price.output] : [])];
  const dollars = amounts.map((usd) => Number((usd * 1e6).toPrecision(12))).join(' and ');
  return { price, source: `${base}/models: ${dollars} dollars per million tokens` };
}
