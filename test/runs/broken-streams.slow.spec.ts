import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadCatalog, type Model } from '#catalog';
import { dataOf, EventSplitter } from '#providers';
import { vendors } from '../../apps/gateway/src/vendors/vendors.js';
import {
  failOnLeftovers,
  newTag,
  openAnswer,
  sharedSystem,
  type TestCaller,
  transports,
} from '../harness/index.js';
import { withWords } from '../providers/rows.js';

interface Path {
  /** The route of the path, without the name of a model. */
  route: string;
  url: string;
  model: Model;
}

/** The last event of a stream on each route when its provider breaks off. The text of the error is in `message`. */
const message = expect.stringMatching(/^[A-Z].*\.$/);
const errors: Readonly<Record<string, { event: string; data: object }>> = {
  '/v2/models/{model}': { event: 'error', data: { detail: message, error_type: 'provider_error' } },
  '/openai/v1/responses': {
    event: 'error',
    data: { type: 'error', sequence_number: 0, code: 'provider_error', message, param: null },
  },
  '/openai/v1/chat/completions': {
    event: '',
    data: { error: { message, type: 'server_error', param: null, code: 'provider_error' } },
  },
  '/anthropic/v1/messages': {
    event: 'error',
    data: { type: 'error', error: { type: 'api_error', message }, request_id: expect.any(String) },
  },
  '/gemini/v1beta/models/{model}:streamGenerateContent': {
    event: '',
    data: { error: { code: 502, message, status: 'UNKNOWN' } },
  },
};

/** The vendors' paths that stream the model for a body of JSON. */
const vendorPathsOf = (model: Model): Path[] =>
  vendors.flatMap((vendor) => {
    if (!('routes' in vendor)) return [];
    const isQuery = model.stream?.request && 'alt' in model.stream.request;
    return vendor.routes
      .filter(({ provider = vendor.provider }) => provider === model.provider)
      .filter((route) => route.form === undefined && !route.countsTokens && route.serves(model))
      .filter(({ alt }) => (alt !== undefined) === isQuery)
      .map(({ path, alt }) => ({
        route: `${vendor.base}${path}`,
        url: `${vendor.base}${path.replace('{model}', vendor.nameOf(model))}${alt ? `?alt=${alt}` : ''}`,
        model,
      }));
  });

/** The paths of every model in the running catalog that streams. */
async function pathsOf(caller: TestCaller): Promise<Path[]> {
  const catalog = await loadCatalog();
  const models = (await caller.listed())
    .flatMap((id) => catalog.find(id) ?? [])
    .filter(({ stream }) => stream !== undefined && stream.text.length > 0);
  return models.flatMap((model) => {
    const query = model.stream && 'alt' in model.stream.request ? `?alt=${model.stream.request.alt}` : '';
    return [
      { route: '/v2/models/{model}', url: `/v2/models/${model.id}${query}`, model },
      ...vendorPathsOf(model),
    ];
  });
}

function bodyFor({ model }: Path, words: string): string {
  const request = model.stream?.request;
  const member = request && 'member' in request ? { [request.member]: true } : {};
  return JSON.stringify({ ...model.constants, ...(withWords(model.example, words) as object), ...member });
}

/** The events of an answer: their names and data. */
function eventsIn(bytes: Buffer) {
  const splitter = new EventSplitter();
  const events = splitter.push(bytes);
  expect(splitter.rest()).toHaveLength(0);
  return events
    .map((each) => ({
      event: /^event: (.*)$/m.exec(Buffer.from(each).toString())?.[1] ?? '',
      data: dataOf(each),
    }))
    .filter(({ data }) => data !== '');
}

const atOnce = 24;
/** A run that ends before the gateway has read its first event is answered by its outcome. */
const paused = '[[sim:stream_pause=1000]]';

describe.each(transports())('a stream that its provider breaks off on %s', (transport) => {
  const system = sharedSystem(transport);
  let caller: TestCaller;
  let paths: Path[];
  beforeAll(async () => {
    caller = await system.caller({ inflightLimit: atOnce });
    paths = await pathsOf(caller);
  });

  const open = (path: Path, words: string, headers: Record<string, string> = {}) =>
    openAnswer(`${system.gateways[0]?.url}${path.url}`, {
      key: caller.key,
      body: bodyFor(path, words),
      headers,
    });

  async function check(path: Path, words: string, headers?: Record<string, string>): Promise<void> {
    const answer = await open(path, words, headers);
    expect([path.url, answer.status]).toEqual([path.url, 200]);
    expect([path.url, await answer.ended]).toEqual([path.url, true]);
    const events = eventsIn(answer.bytes());
    const last = events.pop();
    expect(events.length).toBeGreaterThan(0);
    // Nothing of an event that was cut off comes before the error.
    for (const { data } of events) JSON.parse(data);
    expect([path.url, { ...last, data: JSON.parse(last?.data ?? '') }]).toEqual([
      path.url,
      errors[path.route],
    ]);
  }

  it('ends with an error in the form of its route, for every model and path that streams', async () => {
    expect(paths.length).toBeGreaterThan(80);
    expect([...new Set(paths.map(({ route }) => route))].toSorted()).toEqual(Object.keys(errors).toSorted());
    const waiting = [...paths];
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let path = waiting.pop(); path !== undefined; path = waiting.pop())
          await check(path, `[[sim:stream_reset]] ${paused}`);
      }),
    );
    await system.ended(caller);
    const rows = await system.sql(
      `SELECT DISTINCT outcome, bucket, status FROM run WHERE workspace_id = $1`,
      [caller.workspaceId],
    );
    expect(rows).toEqual([{ outcome: 'failed', bucket: 'provider_error', status: 502 }]);
  }, 120_000);

  it.concurrent.each(Object.keys(errors))(
    'ends with the error of %s if its connection is closed early',
    async (route) => {
      const path = paths.find((each) => each.route === route);
      if (!path) throw new Error(`no model has ${route}`);
      await check(path, `[[sim:stream_short]] ${paused}`);
    },
  );

  it('ends with the error for a client of fal', async () => {
    const path = paths.find(({ route }) => route === '/v2/models/{model}');
    if (!path) throw new Error('no model streams');
    await check(path, `[[sim:stream_reset]] ${paused}`, { authorization: `Key ${caller.key}` });
  });

  it('ends with the error of a cancelled run', async () => {
    const path = paths.find(({ route }) => route === '/v2/models/{model}');
    if (!path) throw new Error('no model streams');
    const answer = await open(path, '[[sim:stream_hang]]', { 'idempotency-key': newTag('cancelled') });
    const runId = answer.headers.get('x-service-run-id');
    await caller.call('PUT', `/v2/models/${path.model.id}/requests/${runId}/cancel`);
    expect(await answer.ended).toBe(true);
    const last = eventsIn(answer.bytes()).pop();
    expect(last).toEqual({
      event: 'error',
      data: expect.stringContaining('"error_type":"client_disconnected"'),
    });
  });

  it.concurrent.each(Object.keys(errors))('answers 502 on %s if nothing was sent', async (route) => {
    const path = paths.find((each) => each.route === route);
    if (!path) throw new Error(`no model has ${route}`);
    const answer = await open(path, '[[sim:reset_after_accept]]');
    expect(await answer.ended).toBe(true);
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([502, 'provider_error']);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const body = JSON.parse(answer.bytes().toString()) as object;
    // A body has no name, so the Responses API has that of the other paths.
    const form = route === '/openai/v1/responses' ? '/openai/v1/chat/completions' : route;
    expect(body).toEqual(errors[form]?.data);
  });
});

failOnLeftovers();
