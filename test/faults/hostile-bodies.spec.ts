import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { loadCatalog, type Model } from '#catalog';
import { newEncryptionKeys } from '#schemas';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { least } from '../harness/faults.js';
import { type Caller } from '../harness/index.js';
import { recordedRoutes } from '../harness/shared/described.js';
import { gatewayForFile } from '../routes/gateways.js';
import { hostileBodies } from '../routes/hostile-bodies.js';
import { routesWithBody } from '../routes/served-routes.js';
import { hostileInputs } from './hostile-inputs.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'routes-'));
const routesFile = path.join(folder, 'routes');
afterAll(() => rmSync(folder, { recursive: true }));
const gateway = gatewayForFile({
  ...recordedRoutes(routesFile),
  BODY_CHECK_TIMEOUT_MS: '60000',
  // For bodies that happen to be good.
  SYNC_DEADLINE_MS: '500',
  ENCRYPTION_PUBLIC_KEY: newEncryptionKeys().publicKey,
});
const kibibyte = 1024;
/** The number of bodies per model, spread over the places of its schema and over both sizes. */
const bodiesOfAModel = 8;
const largest = 64 * kibibyte - 200;
const largestMessage = 1_000 * kibibyte;
const triesOfOneBody = 24;

let caller: Caller;
let allowedMs: number;
beforeAll(async () => {
  ({ caller } = await gateway().caller({}, ['catalog', 'run', 'manage', 'operate']));
  // A busy machine causes pauses too, so as much is allowed as when the gateway answers only small calls.
  for (let call = 0; call < 50; call += 1)
    await send({ path: pathOf('bfl/flux-2-pro'), body: '{"prompt":"x"}' });
  const quiet: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    await longestPauseMs();
    for (let call = 0; call < bodiesOfAModel; call += 1)
      await send({ path: pathOf('bfl/flux-2-pro'), body: '{"prompt":"x"}' });
    quiet.push(await longestPauseMs());
  }
  allowedMs = Math.max(50, ...quiet);
});

interface Sent {
  method?: string;
  path: string;
  body: string | Uint8Array<ArrayBuffer>;
  contentType?: string;
  what?: string;
}

const pathOf = (model: string) => `/v2/models/${model}/cost`;

async function send({
  method = 'POST',
  path,
  body,
  contentType = 'application/json',
}: Sent): Promise<number> {
  const headers = {
    'x-api-key': caller.key,
    'content-type': contentType,
    accept: 'application/json, text/event-stream',
  };
  const answer = await fetch(`${gateway().url}${path}`, {
    method,
    body,
    headers,
    signal: AbortSignal.timeout(90_000),
  });
  expect((await answer.arrayBuffer()).byteLength).toBeLessThan(300 * kibibyte);
  return answer.status;
}

/** The gateway's longest event-loop pause since the last call of this function, in milliseconds. */
async function longestPauseMs(): Promise<number> {
  const text = await (await fetch(`${gateway().internalUrl}/metrics`)).text();
  // Reading the metric resets it, and a pause before its next sample, 10 ms later, would be missed.
  await setTimeout(30);
  return Number(/^router_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000;
}

/** The bodies that exceed the allowed pause every time they are sent, and the longest pause of all. */
async function pausesOver(bodies: readonly Sent[]): Promise<{ slow: string[]; worstMs: number }> {
  const slow: string[] = [];
  await longestPauseMs();
  // A body that happens to be good waits for its run, and gets a 504.
  for (const body of bodies) expect([500, 501, 502, 503]).not.toContain(await send(body));
  const worstMs = await longestPauseMs();
  if (worstMs <= allowedMs) return { slow, worstMs };
  let leastWorstMs = 0;
  for (const body of bodies) {
    const pauseMs = await least(
      allowedMs,
      async () => {
        await longestPauseMs();
        await send(body);
        return longestPauseMs();
      },
      triesOfOneBody,
    );
    leastWorstMs = Math.max(leastWorstMs, pauseMs);
    if (pauseMs > allowedMs) slow.push(`${body.path}: ${body.what}, ${Math.round(pauseMs)} ms`);
  }
  return { slow, worstMs: leastWorstMs };
}

function bodiesFor({ id, input }: Model): Sent[] {
  const all = [60 * kibibyte, 36 * kibibyte].flatMap((bytes) => [...hostileInputs(input, bytes)]);
  const step = Math.max(1, all.length / bodiesOfAModel);
  return Array.from(
    { length: Math.min(all.length, bodiesOfAModel) },
    (_, index) => all[Math.floor(index * step)],
  )
    .flatMap((each) => each ?? [])
    .map(({ what, text }) => ({ path: pathOf(id), body: text, what }));
}

it('a hostile input of any model delays no other call', async () => {
  const { models } = await loadCatalog();
  const slow: string[] = [];
  let [count, worstMs] = [0, 0];
  for (const model of models) {
    // Compiles the schema first.
    await send({ path: pathOf(model.id), body: '{}' });
    const bodies = bodiesFor(model);
    const pauses = await pausesOver(bodies);
    slow.push(...pauses.slow);
    count += bodies.length;
    worstMs = Math.max(worstMs, pauses.worstMs);
  }
  process.stderr.write(
    `${count} bodies for ${models.length} models: longest pause ${Math.round(worstMs)} ms, allowed ${Math.round(allowedMs)} ms\n`,
  );
  expect(slow).toEqual([]);
});

/** CPU seconds that all threads of the gateway have used. */
async function usedSeconds(): Promise<number> {
  const text = await (await fetch(`${gateway().internalUrl}/metrics`)).text();
  return Number(/^router_process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
}

/** Checking a MiB of small objects, the dearest input that is accepted, takes up to half a second of a thread. */
const allowedSeconds = 1;

it('a hostile body at any route costs what its bytes cost, and delays no other call', async () => {
  const [slow, dear]: [string[], string[]] = [[], []];
  const worst = { ms: 0, seconds: 0 };
  let count = 0;
  const routes = await routesWithBody(routesFile);
  for (const { route, method, path: at, usual } of routes) {
    const bodies = [...hostileBodies(usual, isForInputs(at) ? largestMessage : largest)].map(
      ({ bytes, ...body }) => ({ ...body, method, path: at, body: new Uint8Array(bytes) }),
    );
    const pauses = await pausesOver(bodies);
    slow.push(...pauses.slow);
    worst.ms = Math.max(worst.ms, pauses.worstMs);
    for (const body of bodies) {
      // Another thread of the gateway may use time of its own, for example to compile a schema.
      const used = await least(allowedSeconds, async () => {
        const before = await usedSeconds();
        await send(body);
        return (await usedSeconds()) - before;
      });
      worst.seconds = Math.max(worst.seconds, used);
      if (used > allowedSeconds) dear.push(`${route}: ${body.what}, ${used} s`);
    }
    count += bodies.length;
  }
  process.stderr.write(
    `${count} bodies at ${routes.length} routes: longest pause ${Math.round(worst.ms)} ms, allowed ${Math.round(allowedMs)} ms; most CPU ${worst.seconds.toFixed(2)} s\n`,
  );
  expect({ slow, dear }).toEqual({ slow: [], dear: [] });
});

/** Whether the route takes the input of a model, a file or a message, which may be larger than other bodies. */
const isForInputs = (at: string): boolean =>
  /^\/(v\d\/models|v2\/files|mcp|openai|anthropic|gemini|replicate)\b/.test(at);

const filled = (bytes: number, piece: string) => piece.repeat(Math.floor(bytes / piece.length));
const message = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
const run = (input: string) =>
  message(`{"name":"run_model","arguments":{"model":"bfl/flux-2-pro","wait_seconds":0,"input":${input}}}`);
const manyNames = `{${Array.from({ length: 1_900 }, (_, index) => `"k${index}":1`).join()}}`;

it.each<[string, string, Omit<Sent, 'path'>]>([
  ['/mcp', 'an input', { body: run(`{"a":[${filled(1_000 * kibibyte, '{},')}1]}`) }],
  ['/mcp', 'arguments', { body: message(`{"name":"find_models","arguments":${manyNames}}`) }],
  ['/mcp', 'parameters', { body: message(manyNames) }],
  [
    '/mcp',
    '1 MiB of arguments',
    { body: message(`{"arguments":{${filled(largestMessage, '"a":0,')}"b":1}}`) },
  ],
  [
    '/mcp',
    '1 MiB of inputs',
    { body: message(`{"arguments":{${filled(largestMessage, '"input":{},')}"b":1}}`) },
  ],
  ['/mcp', '1 MiB of members', { body: `{${filled(largestMessage, '"a":0,')}"b":1}` }],
  ['/v2/files', 'comments', { body: filled(64 * kibibyte, '<!---->'), contentType: 'image/svg+xml' }],
  ['/v2/files', 'blanks', { body: ' '.repeat(largest), contentType: `text/csv${' '.repeat(12_000)}; a` }],
])('at %s, %s delay no other call', async (path, what, sent) => {
  const { slow, worstMs } = await pausesOver([{ ...sent, path, what }]);
  process.stderr.write(`${path}, ${what}: longest pause ${Math.round(worstMs)} ms\n`);
  expect(slow).toEqual([]);
});

const oneByteChunks = Buffer.from('1\r\n \r\n'.repeat(10_000));

/** Sends up to 3.5 million chunks of one byte. Returns the status, and how many chunks were sent. */
function sendInPieces(path: string, key?: string): Promise<{ status: number; sent: number }> {
  const { port } = new URL(gateway().url);
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked`;
  return new Promise((resolve) => {
    let answer = '';
    let sent = 0;
    const socket = net.connect({ port: Number(port), host: '127.0.0.1' });
    const write = () => {
      while (!socket.destroyed && sent < 3_500_000) {
        sent += 10_000;
        if (!socket.write(oneByteChunks)) return;
      }
      if (!socket.destroyed) socket.end('0\r\n\r\n');
    };
    socket.write(`${head}${key ? `\r\nX-API-Key: ${key}` : ''}\r\n\r\n`);
    socket
      .on('drain', write)
      .on('data', (chunk) => (answer += chunk.toString()))
      .on('error', () => {})
      .on('close', () => resolve({ status: Number(/(?<=^HTTP\/1\.1 )\d+/.exec(answer)?.[0]), sent }));
    write();
  });
}

it.each([
  ['/v2/models/bfl/flux-2-pro/requests', true, 400],
  ['/v2/keys', true, 400],
  ['/v2/files', true, 400],
  ['/mcp', true, 400],
  ['/mcp', false, 401],
  ['/v2/files', false, 401],
])('a body in chunks of one byte is rejected early at %s (with a key: %s)', async (path, hasKey, status) => {
  // One read of a connection contains 11,000 such chunks. Millions of them would take seconds.
  const allowedOfPiecesMs = Math.max(200, allowedMs);
  const pauseMs = await least(
    allowedOfPiecesMs,
    async () => {
      await longestPauseMs();
      const answer = await sendInPieces(path, hasKey ? caller.key : undefined);
      expect(answer.status).toBe(status);
      expect(answer.sent).toBeLessThan(3_500_000);
      return longestPauseMs();
    },
    triesOfOneBody,
  );
  process.stderr.write(`${path}, chunks of one byte: longest pause ${Math.round(pauseMs)} ms\n`);
  expect(pauseMs).toBeLessThanOrEqual(allowedOfPiecesMs);
});

it('the largest bodies of one workspace do not delay another workspace’s', async () => {
  const other = (await gateway().caller()).caller;
  const path = '/v2/models/openai/o3/cost';
  const hostile = `{"input":"x","include":[${filled(31 * kibibyte * kibibyte, '"reasoning.encrypted_content",')}1]}`;
  const usual = `{"input":"${'x'.repeat(90 * kibibyte)}"}`;
  const timeOf = async () => {
    const startedMs = performance.now();
    expect((await other.call('POST', path, { body: usual })).status).toBe(200);
    return performance.now() - startedMs;
  };
  const alone = await times(10, timeOf);
  const statuses: number[] = [];
  const ofOneConnection = () =>
    times(2, async () => {
      statuses.push((await caller.call('POST', path, { body: hostile, withinMs: 120_000 })).status);
      return 0;
    });
  const over = new AbortController();
  const flood = Promise.all([ofOneConnection(), ofOneConnection(), ofOneConnection()]).finally(() =>
    over.abort(),
  );
  const beside: number[] = [];
  while (!over.signal.aborted) beside.push(await timeOf());
  await flood;
  process.stderr.write(
    `${beside.length} bodies of another workspace: median ${Math.round(median(beside))} ms, longest ${Math.round(Math.max(...beside))} ms, alone ${Math.round(median(alone))} ms; the largest ones: ${statuses.join()}\n`,
  );
  // Behind the largest bodies it would take seconds.
  expect(median(beside)).toBeLessThan(500 + 10 * median(alone));
});

async function times(count: number, measure: () => Promise<number>): Promise<number[]> {
  const measured: number[] = [];
  while (measured.length < count) measured.push(await measure());
  return measured;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, another) => one - another)[Math.floor(values.length / 2)] ?? 0;
