import { intake } from '#catalog';
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
  today,
  unpublished,
  withExample,
} from '../draft.js';
import { linkPointers } from '../schema-facts.js';
import { replicateModalities } from './replicate-modalities.js';
import { failureText, type SourceApi, SourceFailure } from '../source-api.js';

/** Only the fields that are used. */
const modelShape = z.object({
  description: z.string().nullish(),
  is_official: z.boolean().nullish(),
  latest_version: z
    .object({ id: z.string().min(1), openapi_schema: z.record(z.string(), z.unknown()) })
    .nullish(),
  default_example: z.object({ output: z.unknown() }).nullish().catch(undefined),
});

/** A price in US dollars: per run, or per second of `metrics.predict_time`. */
export type RunPrice = { usd: number } | { usdPerSecond: number };

/** The default time limit of a run, in seconds. A longer run fails and is not billed, so it bounds the price. */
const budgetSeconds = 540;

/** Why no model bills a run that its content policy rejects. */
const failedRuns =
  'replicate.com/docs/topics/billing: a run that fails is not charged, for all models; 2026-11-27';

interface ReplicateOptions {
  api: SourceApi;
  price: RunPrice;
  maxCents: number | undefined;
}

/** Replicate's API: `GET /models/{owner}/{name}`. Official models have a path of their own, others a version. */
export const replicateSource = ({ api, price, maxCents }: ReplicateOptions): Source => ({
  provider: 'replicate',
  comparesPrice: () => false,
  nameOf: ({ upstream }) => upstream['model'] ?? /^models\/(.+)\/predictions$/.exec(upstream.path)?.[1],
  async *drafts(names = []): AsyncGenerator<Found> {
    for (const name of names) {
      try {
        const reply = modelShape.safeParse(await api.get(`/models/${name}`));
        const found = reply.data
          ? draftOf(name, reply.data, api.base, priceOf(price, maxCents))
          : { skipped: 'the reply is not a model' };
        yield { name, ...found };
      } catch (error) {
        const isUnknown = error instanceof SourceFailure && error.status === 404;
        yield { name, skipped: isUnknown ? unpublished : failureText(error) };
      }
    }
  },
});

function priceOf(price: RunPrice, maxCents: number | undefined): Record<string, unknown> {
  const facts = { source: 'the operator’s price', date: today() };
  if ('usd' in price) return { usd: price.usd, ...facts };
  const { usdPerSecond: usd } = price;
  const most = maxCents === undefined ? usd * budgetSeconds : maxCents / 100;
  return { usd: Math.round(most * 1e6) / 1e6, reported: [{ path: '/metrics/predict_time', usd }], ...facts };
}

function draftOf(
  name: string,
  {
    description,
    is_official: isOfficial,
    latest_version: version,
    default_example: example,
  }: z.infer<typeof modelShape>,
  base: string,
  price: Record<string, unknown>,
): { draft: Draft } | { skipped: string } {
  const segment = joinedSegments(name);
  if (segment === undefined) return { skipped: 'its name does not form an id' };
  if (!version) return { skipped: 'it has no version' };
  const id = `replicate/${segment}`;
  const document = storedDocument(fileBase(id), version.openapi_schema);
  const refTo = (schema: string) => ({ $ref: `${document.name}#/components/schemas/${schema}` });
  const draft = { base: fileBase(id), from: `${base}/models/${name}`, document };
  const documents = documentsOf(draft);
  const { schema: output, problems } = intake(refTo('Output'), documents);
  const [problem] = problems;
  if (problem) return { skipped: problem.message };
  const files = linkPointers(output, '/output');
  const { schema: input } = intake(refTo('Input'), documents);
  const row = {
    id,
    aliases: [`replicate/${name.toLowerCase()}`],
    title: shortened(name, 100),
    description: shortened(description ?? undefined, 300),
    modalities: replicateModalities({
      input,
      output,
      example: example?.output,
      text: `${name} ${description ?? ''}`,
    }),
    upstream: {
      path: isOfficial ? `models/${name}/predictions` : 'predictions',
      model: name,
      ...(!isOfficial && { version: version.id }),
    },
    charges_on_policy_rejection: 'no',
    policy_source: failedRuns,
    price,
    budget_seconds: budgetSeconds,
    assets: files,
    input: refTo('Input'),
    output: {
      media_type: 'application/json',
      schema: {
        type: 'object',
        required: ['id', 'status', 'output'],
        properties: {
          id: { type: 'string' },
          status: { type: 'string' },
          output: refTo('Output'),
          metrics: { type: 'object', properties: { predict_time: { type: 'number' } } },
        },
      },
    },
  };
  return { draft: withExample({ ...draft, row }) };
}
