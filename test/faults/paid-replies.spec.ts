import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import {
  failOnLeftovers,
  json,
  ScriptedServer,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';

const mebibyte = 1024 * 1024;
const model = 'openai/gpt-image-2';
const place = '/v1/images/generations';
/** Two mebibytes of JSON, which are parsed in the thread. */
const image = `{"created":1, "data":[{"b64_json":"${'A'.repeat(2 * mebibyte)}"}],"x":9007199254740993}`;

// We have to pay for every answer of a provider, so a result must not be lost because we were slow to read it.
describe('a large result', () => {
  let provider: ScriptedServer;
  let system: System;
  let caller: TestCaller;
  /** The provider's answer. */
  let text = image;

  beforeAll(async () => {
    provider = await ScriptedServer.start();
    provider.paths.set(place, (...call) => json(text)(...call));
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      workers: 0,
      env: { PROVIDER_OPENAI_BASE_URL: `${provider.url}/v1` },
    });
    caller = await system.caller({ inflightLimit: 20 });
  });
  afterAll(async () => {
    await system.stop();
    await provider.stop();
  });

  const answered = async (prompt: string) => {
    const body = JSON.stringify({ model: 'gpt-image-2', prompt });
    return caller.call('POST', `/v2/models/${model}`, { body, withinMs: 150_000 });
  };

  /**
   * Starts a worker for the test. Each prompt is one run, which is submitted once and whose result arrives
   * complete.
   */
  async function holds(failpoint: string, prompts: readonly string[]): Promise<void> {
    const before = provider.calls.length;
    const worker = await system.startWorker({ FAILPOINT: failpoint });
    const answers = await Promise.all(prompts.map(answered));
    for (const answer of answers) {
      expect([answer.status, answer.bucket]).toEqual([200, undefined]);
      expect(answer.bytes.equals(Buffer.from(text))).toBe(true);
      expect(Number(answer.headers.get('x-service-cost-cents'))).toBeGreaterThan(0);
    }
    expect(provider.calls.length - before).toBe(prompts.length);
    expect(worker.logs()).toContain(failpoint === '' ? '' : `failpoint ${failpoint.split(':')[0]}:`);
    await system.kill(worker);
  }

  it('waits for a thread that is busy for longer than its own time limit', () =>
    holds('reply.read:block=25000', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']));

  it('is read once more, with more time, if reading it took too long', () =>
    holds('reply.read:block=35000', ['slow']));

  it('of more than a million arrays and objects is delivered unchanged', async () => {
    const boxes = Array.from({ length: 4 * mebibyte }, () => '[]').join();
    text = `{"created":1,"data":[{"b64_json":"AAAA"}],"boxes":[${boxes}]}`;
    await holds('', ['boxes']);
    text = image;
  });

  it('that was stored survives the death of its worker', async () => {
    const before = provider.calls.length;
    const dying = await system.startWorker({ FAILPOINT: 'dispatch.afterKeep:kill' });
    const answer = answered('outlives');
    await waitFor(() => dying.child.signalCode !== null, { withinMs: 30_000, what: 'the worker to die' });
    system.forget(dying);
    const next = await system.startWorker();
    expect((await answer).bytes.equals(Buffer.from(text))).toBe(true);
    expect(provider.calls.length - before).toBe(1);
    await system.kill(next);
  });

  it('keeps every invariant', async () => {
    await system.startWorker();
    await holdToInvariants(system);
  });
});

failOnLeftovers();
