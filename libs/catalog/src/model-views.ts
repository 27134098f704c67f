import { createHash } from 'node:crypto';
import type { RouterModelDetail, RouterModelFullEntry, RouterModelListEntry } from '#schemas';
import { endsSoon, type Model, nextPrice, oncePerSchema, visibleProvider } from './model.js';
import type { Price } from './price.js';
import { priceFrom, priceText } from './price-text.js';
import { atOrigin } from './samples.js';
import { tasksOf } from './tasks.js';

export type Generation = 'v1' | 'v2';

export interface ModelDocument {
  bytes: Buffer;
  /** A strong entity tag of the bytes, including the quotes. */
  etag: string;
}

const maxUrlLength = 2048;

/** The query parameters that select the server of a run, and a stream. */
const serverParameter = 'model_provider';
const streamParameter = 'alt';

const documentsOf = oncePerSchema(
  (): Partial<Record<`${Generation} ${'stays' | 'ends'}`, ModelDocument>> => ({}),
);

const runPath = (model: Model, generation: Generation): string => `/${generation}/models/${model.id}`;

interface Parameter {
  name: string;
  in?: string;
  description?: string;
  schema?: object;
  'x-service-input-header'?: boolean;
}

/** The part that the documents of all models share: the run route, as described by the service. */
export interface DocumentFrame {
  servers: readonly { url: string }[];
  externalDocs: { description: string; url: string };
  operation: { security?: unknown; parameters?: Parameter[]; responses?: Record<string, object> };
  components: object;
}

/**
 * The model as a standalone OpenAPI 3.1 document with one path, the run route. Its input schema is the object with
 * which calls are checked. v1 describes only the input, v2 also the result. `frame` must be the same on every call
 * in a process.
 */
export function openApiDocument(model: Model, generation: Generation, frame: DocumentFrame): ModelDocument {
  return (documentsOf(model)[`${generation} ${endsSoon(model) ? 'ends' : 'stays'}`] ??= render(
    model,
    generation,
    frame,
  ));
}

function render(model: Model, generation: Generation, frame: DocumentFrame): ModelDocument {
  const { '200': ok, ...failures } = frame.operation.responses ?? {};
  const operation = {
    operationId: 'run',
    summary: `Run ${model.id}`,
    description: model.description,
    ...frame.operation,
    parameters: frame.operation.parameters
      ?.flatMap((each) => parameterOf(model, each))
      .concat(headerParametersOf(model)),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: model.input,
          example: atOrigin(model.example, frame.servers[0]?.url),
        },
      },
    },
    responses: {
      '200': {
        ...ok,
        description: 'The output of the provider, unchanged.',
        content: generation === 'v2' ? contentOf(model) : undefined,
        links: { SubmitRun: queuedRun(model, frame) },
      },
      ...failures,
    },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: model.id, description: descriptionOf(model), version: versionOf(model) },
    servers: frame.servers,
    externalDocs: frame.externalDocs,
    'x-service-input-schema-authored': model.isAuthored,
    'x-service-input-modalities': model.modalities?.in,
    'x-service-output-modalities': model.modalities?.out,
    'x-service-servers': servedBy(model),
    'x-service-lifecycle': endsSoon(model) ? { ends: model.ends, successor: model.successor } : undefined,
    'x-service-price': priceOf(model),
    'x-service-stream': streamOf(model),
    paths: { [runPath(model, generation)]: { post: operation } },
    components: frame.components,
  };
  const bytes = Buffer.from(JSON.stringify(document));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('hex')}"` };
}

/** Undefined if the row has no texts. */
function descriptionOf(model: Model): string | undefined {
  const { title, description, ends, successor } = model;
  const instead = successor === undefined ? '' : ` Use ${successor} instead.`;
  const ending = endsSoon(model)
    ? `Ends on ${ends}. From that day on, runs are rejected.${instead}`
    : undefined;
  return [title && `**${title}**`, description, ending].filter(Boolean).join('\n\n') || undefined;
}

/** The name that selects each server, and the model whose document describes its input, output and price. */
const servedBy = ({ id, servers }: Model) =>
  servers.length === 0
    ? undefined
    : [id, ...servers].map((model) => ({ provider: visibleProvider(model), model }));

/**
 * The parameter that selects the server exists only if there are several, and the one that requests a stream only if the
 * input has no member for it.
 */
function parameterOf({ id, servers, stream }: Model, parameter: Parameter): Parameter[] {
  if (parameter.name === streamParameter) return stream && 'alt' in stream.request ? [parameter] : [];
  if (parameter.name !== serverParameter) return [parameter];
  if (servers.length === 0) return [];
  return [{ ...parameter, schema: { ...parameter.schema, enum: [id, ...servers].map(visibleProvider) } }];
}

const headerParametersOf = ({ provider, inputHeaders = {} }: Model): Parameter[] =>
  Object.keys(inputHeaders).map((name) => ({
    name,
    in: 'header',
    description: `A header of ${provider}’s own interface, which is a part of the input.`,
    schema: { type: 'string' },
    'x-service-input-header': true,
  }));

/** How to request a stream, and the places of the answer's text in its events, as JSON pointers. */
function streamOf({ stream }: Model) {
  if (stream === undefined) return undefined;
  const { request, text } = stream;
  const requested = 'alt' in request ? { query: `${streamParameter}=${request.alt}` } : request;
  return { ...requested, text };
}

function priceOf(model: Model) {
  const next = nextPrice(model);
  return { ...formulaOf(model.price), next: next && { from: next.from, ...formulaOf(next) } };
}

const formulaOf = (price: Price) => {
  const { usd, times, plus, date } = price;
  return { text: priceText(price), usd, times, plus, date };
};

/** A version that changes with the row. */
const versionOf = (model: Model): string =>
  createHash('sha256').update(JSON.stringify(model)).digest('hex').slice(0, 12);

/** The link to the route that accepts the same input for a queued run, in the service's document. */
function queuedRun({ id }: Model, { externalDocs }: DocumentFrame) {
  const [provider, model] = id.split('/');
  const route = '/paths/~1v2~1models~1%7Bprovider%7D~1%7Bmodel%7D~1requests/post';
  return {
    operationRef: `${externalDocs.url}#${route}`,
    parameters: { provider, model },
    requestBody: '$request.body',
    description:
      'Submits the same input as a queued run. The response links to its status, result and cancellation.',
  };
}

const contentOf = ({ output, stream }: Model) => ({
  [output?.mediaType ?? '*/*']: { schema: output?.schema, example: output?.example },
  // Events have the provider's own form.
  ...(stream && { 'text/event-stream': { schema: { type: 'string' } } }),
});

/** The model in a list. */
export function entry({ id, chargesOnPolicyRejection }: Model): RouterModelListEntry {
  const [provider = '', model = ''] = id.split('/');
  return { id, provider, model, billing: { charges_on_policy_rejection: chargesOnPolicyRejection } };
}

function shownPrice(price: Price) {
  const { usd, unit } = priceFrom(price);
  return { from_usd: usd, unit, text: priceText(price) };
}

/** The entry with more facts for people. */
export function fullEntry(model: Model): RouterModelFullEntry {
  const { id, title, description, modalities, price, added, ends, successor, aliases, servers, output } =
    model;
  const next = nextPrice(model);
  return {
    ...entry(model),
    title,
    description,
    input_modalities: modalities?.in ?? [],
    output_modalities: modalities?.out ?? [],
    tasks: tasksOf(model),
    price: {
      ...shownPrice(price),
      date: price.date,
      next: next?.from === undefined ? undefined : { from: next.from, ...shownPrice(next) },
    },
    added,
    lifecycle: ends === undefined ? undefined : { ends, successor },
    aliases,
    servers: [id, ...servers].map(visibleProvider),
    example_output: output?.example,
  };
}

/**
 * The entry with `input_schema_url`, which must be https. It is present only if the row has a schema and the
 * service has an https base URL.
 */
export function detail(
  model: Model,
  { publicBaseUrl, generation }: { publicBaseUrl: string | undefined; generation: Generation },
): RouterModelDetail {
  if (!model.isAuthored || !publicBaseUrl?.startsWith('https://')) return entry(model);
  const url = `${publicBaseUrl.replace(/(?<!\/)\/+$/, '')}${runPath(model, generation)}/openapi.json`;
  return url.length > maxUrlLength ? entry(model) : { ...entry(model), input_schema_url: url };
}
