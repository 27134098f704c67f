import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { residentBytes, System } from '../harness/faults.js';
import {
  type Caller,
  content,
  failOnLeftovers,
  type Reply,
  ScriptedServer,
  transports,
  waitFor,
} from '../harness/index.js';

const mebibyte = 1024 * 1024;
const streams = 20;
const bytesOfAStream = 13 * mebibyte;
const chat = '{"model":"gpt-4o","messages":[{"role":"user","content":"x"}],"stream":true}';
const speech = '{"model":"tts-1","input":"x","voice":"alloy"}';

let provider: ScriptedServer;
let system: System;
const open: ServerResponse[] = [];

/** Sends the events as fast as they are read, and does not end. */
const endless: Reply = (_call, response) => {
  open.push(response);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const text = 'x'.repeat(60 * 1024);
  const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;
  let left = bytesOfAStream;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= event.length;
      if (!response.write(event)) return void response.once('drain', more);
    }
  };
  more();
};

beforeAll(async () => {
  provider = await ScriptedServer.start();
  provider.paths.set('/v1/chat/completions', endless);
  provider.paths.set('/v1/audio/speech', content('audio/mpeg', Buffer.alloc(2 * mebibyte, 'a')));
  system = await System.start({
    transport: transports()[0] ?? 'postgres',
    env: { PROVIDER_OPENAI_BASE_URL: `${provider.url}/v1` },
  });
});
afterAll(async () => {
  await system.stop();
  await provider.stop();
});

/** The slowest of ten results of 2 MiB, in milliseconds. */
async function slowestMs(caller: Caller): Promise<number> {
  let slowest = 0;
  for (let call = 0; call < 10; call += 1) {
    const beganMs = performance.now();
    const answer = await caller.call('POST', '/v2/models/openai/tts-1', { body: speech, withinMs: 60_000 });
    expect([answer.status, answer.bytes.length]).toEqual([200, 2 * mebibyte]);
    slowest = Math.max(slowest, performance.now() - beganMs);
  }
  return slowest;
}

it(`${streams} open streams of 13 MiB of two workspaces hold up no other workspace`, async () => {
  const holders = [await system.caller({ inflightLimit: 50 }), await system.caller({ inflightLimit: 50 })];
  const other = await system.caller({ inflightLimit: 50 });
  const aloneMs = await slowestMs(other);
  const [worker] = system.workers;
  if (worker === undefined) throw new Error('No worker runs.');
  const before = residentBytes(worker);
  for (const holder of holders)
    for (let stream = 0; stream < streams / 2; stream += 1)
      await holder.submit('openai/gpt-4o-chat-completions', chat);
  await waitFor(() => open.length === streams, { withinMs: 60_000, what: 'all streams to be open' });
  const besideMs = await slowestMs(other);
  const rise = residentBytes(worker) - before;
  process.stderr.write(
    `a result of 2 MiB beside ${streams} open streams: ${Math.round(besideMs)} ms at most, alone ${Math.round(aloneMs)} ms; the worker grew by ${Math.round(rise / mebibyte)} MiB\n`,
  );
  // A result that waited for a stream would never come.
  expect(besideMs).toBeLessThan(5_000 + 10 * aloneMs);
  expect(rise).toBeLessThan(600 * mebibyte);
  for (const response of open) response.destroy();
});

failOnLeftovers();
