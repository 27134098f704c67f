import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkInput, loadCatalog, type Model } from '#catalog';
import {
  type HttpCall,
  type HttpReply,
  type ProviderAdapter,
  providerList,
  readReply,
  type Run,
} from '#providers';
import { withMembersFirst } from '#schemas';
import { startWithCaller, type Caller } from '../../apps/simulator/src/testing/caller.js';
import { parsedInput } from '../../libs/catalog/src/testing/parsed-input.js';
import { withWords } from '../providers/rows.js';

let simulator: Caller;
let keys: Record<string, string>;
beforeAll(async () => {
  simulator = await startWithCaller({ defaultMs: 0 });
  keys = (await simulator.admin('/keys')).json as Record<string, string>;
});
afterAll(() => simulator.simulator.close());

const { models } = await loadCatalog();
const streaming = models.filter(({ stream }) => (stream?.maxTokens.length ?? 0) > 0);

function adapterOf({ provider }: Model): ProviderAdapter {
  const definition = providerList.find(({ name }) => name === provider);
  if (!definition) throw new Error(`there is no provider ${provider}`);
  return definition.create(`${simulator.simulator.api}/${provider}`, {});
}

async function send(call: HttpCall, headers: Record<string, string> = {}): Promise<HttpReply> {
  const { method, url, body } = call;
  const response = await fetch(url, {
    method,
    headers: { ...call.headers, ...headers },
    body: body === undefined ? null : Buffer.from(body),
    signal: AbortSignal.timeout(30_000),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

async function authenticated(adapter: ProviderAdapter, { provider }: Model, call: HttpCall) {
  const key = keys[provider] ?? '';
  const { exchange } = adapter;
  const secret = exchange ? exchange.read(await send(exchange.call(key, Date.now())))?.token : key;
  return adapter.credential(call, secret ?? '', Date.now());
}

/** The call of a model's example with these words in its prompt, as the worker makes it. */
async function calledWith(model: Model, words: string, isStreamed: boolean) {
  const request = model.stream?.request;
  const member = request && 'member' in request ? { [request.member]: isStreamed } : {};
  const usage =
    model.upstream['protocol'] === 'chat' && isStreamed ? { stream_options: { include_usage: true } } : {};
  const input = { ...(withWords(model.example, words) as object), ...member, ...usage };
  const query = request && 'alt' in request && isStreamed ? { alt: request.alt } : {};
  const [terms] = checkInput([model], parsedInput(input), query);
  const run: Run = {
    runId: '0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f',
    model: model.id,
    upstream: terms.upstream,
    body: withMembersFirst(Buffer.from(JSON.stringify(input)), terms.missingMembers),
    ...(terms.streams && { streams: true }),
  };
  const adapter = adapterOf(model);
  const call = adapter.submit(run);
  const reply = await send(call, await authenticated(adapter, model, call));
  const { reported } = terms.price;
  const read = readReply(adapter, { phase: 'submit', run, reported, assets: model.assetPointers }, reply);
  return { call, reply, read, run };
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('a streamed answer of', () => {
  it.each(streaming.map((model): [string, Model] => [model.id, model]))(
    '%s is the provider’s own events, and costs as much as the whole answer',
    async (id, model) => {
      const tag = `stream-${id}`;
      const whole = await calledWith(model, '[[sim:stream_pause=0]]', false);
      expect(whole.read.outcome.kind).toBe('succeeded');
      const { call, reply, read, run } = await calledWith(
        model,
        `[[sim:stream_pause=0]] [[sim:tag=${tag}]]`,
        true,
      );
      expect(call.stream?.withholds).toBeUndefined();
      expect(Buffer.from(call.body ?? []).equals(run.body)).toBe(true);
      expect(read).toEqual({
        outcome: {
          kind: 'succeeded',
          output: { mediaType: 'text/event-stream; charset=utf-8', body: reply.body },
        },
        reportedMicros: whole.read.reportedMicros,
        writtenTokens: whole.read.writtenTokens,
        arrived: { tokens: expect.any(Number) },
      });
      expect(read.writtenTokens).toBeGreaterThan(0);
      expect(read.arrived?.tokens).toBeGreaterThan(0);
      expect(read.reportedMicros).toBeGreaterThan(0);
      const [entry, ...more] = await simulator.entries(`?tag=${encodeURIComponent(tag)}`);
      expect([entry?.['replySha256'], entry?.['abortedAtMs'], more.length]).toEqual([
        sha256(reply.body),
        null,
        0,
      ]);
    },
  );
});

const ofEachProtocol = [
  ...new Map(streaming.map((model) => [`${model.provider} ${model.upstream['protocol']}`, model])).values(),
];

describe.each(ofEachProtocol.map((model): [string, Model] => [model.id, model]))(
  'a stream of %s',
  (_id, model) => {
    const outcomeOf = async (words: string) => (await calledWith(model, words, true)).read;
    const failure = { class: 'provider_failed', retry: 'never' };

    it('with an error in the middle fails', async () => {
      const { outcome, arrived } = await outcomeOf('[[sim:stream_error]]');
      expect(outcome).toMatchObject({ kind: 'failed', failure });
      expect(arrived?.tokens).toBeGreaterThan(0);
    });

    it('without its end fails', async () => {
      expect((await outcomeOf('[[sim:stream_short]]')).outcome).toMatchObject({ kind: 'failed', failure });
    });

    it('that the content policy ends fails', async () => {
      const { outcome } = await outcomeOf('[[sim:policy_output]]');
      expect(outcome).toMatchObject({ kind: 'failed', failure: { class: 'content_policy' } });
    });

    it('that is rejected before its first byte fails like any call', async () => {
      const { outcome } = await outcomeOf('[[sim:429]]');
      expect(outcome).toMatchObject({ failure: { class: 'provider_unavailable', retry: 'new_submit' } });
    });

    it('has as many bytes as the simulator is told', async () => {
      const { reply, read } = await calledWith(
        model,
        '[[sim:stream_bytes=300000]] [[sim:stream_pause=0]]',
        true,
      );
      expect(reply.body.length).toBeGreaterThanOrEqual(300_000);
      expect(read.outcome.kind).toBe('succeeded');
    });
  },
);
