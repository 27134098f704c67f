import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { holdToInvariants, least, residentBytes, System } from '../harness/faults.js';
import {
  type Answer,
  type Caller,
  failOnLeftovers,
  ScriptedServer,
  sendPieces,
  temporaryFolder,
  transports,
} from '../harness/index.js';
import { metric } from './metrics.js';

const mebibyte = 1024 * 1024;
const place = '/v1/images/generations';

/** A row like OpenAI's own, with a time budget of `seconds`. */
const row = (model: string, seconds: number) => `id: ${model}
upstream: { path: images/generations }
charges_on_policy_rejection: unknown
price: { usd: 0.001 }
budget_seconds: ${seconds}
`;

const json = (response: ServerResponse, headers: Record<string, string | number> = {}) =>
  response.writeHead(200, { 'content-type': 'application/json', ...headers });

// A provider may send anything. It must cost neither memory, nor the event loop, nor a second submission.
describe('a hostile reply', () => {
  let provider: ScriptedServer;
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    const catalog = temporaryFolder('catalog');
    writeFileSync(path.join(catalog, 'hasty.yaml'), row('openai/hasty', 2));
    writeFileSync(path.join(catalog, 'patient.yaml'), row('openai/patient', 25));
    provider = await ScriptedServer.start();
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      env: {
        CATALOG_DIR: catalog,
        PROVIDER_OPENAI_BASE_URL: `${provider.url}/v1`,
        PROVIDER_REPLY_LIMIT: String(32 * mebibyte),
      },
    });
    caller = await system.caller({ inflightLimit: 20 });
  });
  afterAll(async () => {
    await system.stop();
    await provider.stop();
  });

  /** A synchronous call whose provider answers with `respond`; each input is unique. */
  async function answered(
    respond: (response: ServerResponse) => void,
    model = 'openai/patient',
  ): Promise<Answer> {
    provider.paths.set(place, (_call, response) => respond(response));
    return caller.call('POST', `/v2/models/${model}`, { body: `{"n":${provider.calls.length}}` });
  }

  const hostile: [what: string, respond: (response: ServerResponse) => void, bucket: string][] = [
    [
      'of two gigabytes',
      (response) => sendPieces(json(response, { 'content-length': 2048 * mebibyte }), ' '),
      'provider_error',
    ],
    ['that never ends', (response) => sendPieces(json(response), '['), 'provider_error'],
    [
      'that is a million levels deep',
      (response) => json(response).end(`${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`),
      'provider_error',
    ],
    [
      'that would unpack to a gigabyte',
      (response) => json(response, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(64 * mebibyte))),
      'provider_error',
    ],
    [
      'whose body comes a byte a second',
      (response) => {
        json(response);
        const timer = setInterval(
          () => (response.destroyed ? clearInterval(timer) : response.write(' ')),
          1000,
        );
      },
      'provider_timeout',
    ],
    [
      'whose headers come a byte a second',
      (response) => {
        const { socket } = response;
        const timer = setInterval(
          () => (socket?.destroyed ? clearInterval(timer) : socket?.write('H')),
          1000,
        );
      },
      'provider_timeout',
    ],
    [
      'with headers without end',
      (response) => response.writeHead(200, { a: 'b'.repeat(100_000) }).end('{}'),
      'provider_error',
    ],
    [
      'that is a page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>'),
      'provider_error',
    ],
    [
      'that breaks off',
      (response) => void json(response, { 'content-length': 100 }).write('{', () => response.destroy()),
      'provider_error',
    ],
  ];

  it.each(hostile)('%s ends only its own run', async (_what, respond, bucket) => {
    const [worker] = system.workers;
    if (!worker) throw new Error('no worker');
    const isSlow = bucket === 'provider_timeout';
    /** The worker's longest event-loop pause in seconds; reading it resets the measurement. */
    const longestLag = () => metric(worker, 'router_nodejs_eventloop_lag_max_seconds');
    const lag = await least(1, async () => {
      await longestLag();
      const before = residentBytes(worker);
      const submissions = provider.calls.length;
      const answer = await answered(respond, isSlow ? 'openai/hasty' : 'openai/patient');
      expect([answer.status, answer.bucket]).toEqual([isSlow ? 504 : 502, bucket]);
      expect(answer.bytes.toString()).not.toMatch(/<h1>|\[\[/);
      expect(provider.calls.length).toBe(submissions + 1);
      expect(residentBytes(worker) - before).toBeLessThan(256 * mebibyte);
      return longestLag();
    });
    expect(lag).toBeLessThan(1);
    expect(worker.child.exitCode).toBeNull();
  });

  it('of many mebibytes is still read, byte for byte', async () => {
    const text = `{"created":1, "data":[{"b64_json":"${'A'.repeat(8 * mebibyte)}"}],"x":9007199254740993}`;
    const answer = await answered((response) => json(response).end(text));
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(text.length)]);
    expect(answer.bytes.equals(Buffer.from(text))).toBe(true);
  });

  it('leaves every invariant intact', async () => {
    await holdToInvariants(system);
  });
});

failOnLeftovers();
