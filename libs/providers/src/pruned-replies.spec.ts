import { expect, it } from '@jest/globals';
import type { HttpReply } from './contract.js';
import { job } from './job.js';
import { readReply } from './read-reply.js';

const boxes = Array.from({ length: 1_000_000 }, () => '[]').join();
const reply = (text: string): HttpReply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(text),
});

const adapter = job({
  base: 'https://provider.example',
  handle: { id: { path: '/id' } },
  poll: {
    call: ({ id }) => ({ method: 'GET', url: `https://provider.example/${id}` }),
    status: '/status',
    statuses: { done: 'succeeded', broken: 'failed' },
    everyMs: 1_000,
  },
  resultPaths: ['/output/*/points'],
  rules: [{ phase: 'poll', path: '/error', class: 'content_policy' }],
});
const poll = (text: string) =>
  readReply(
    adapter,
    {
      phase: 'resume',
      handle: { v: 1, step: 'poll', id: '1' },
      reported: [{ at: '/usage/points', micros: 2 }],
      assets: [],
    },
    reply(text),
  );

it('a result of more than a million parts is a success, unchanged, and its cost is read', () => {
  const text = `{"status":"done","output":[{"points":[${boxes}]}],"usage":{"points":21}}`;
  const { outcome, reportedMicros } = poll(text);
  expect(outcome).toMatchObject({ kind: 'succeeded', output: { mediaType: 'application/json' } });
  expect(outcome.kind === 'succeeded' && Buffer.from(outcome.output.body as Uint8Array).toString()).toBe(
    text,
  );
  expect(reportedMicros).toBe(42);
});

it.each([
  ['{"status":"broken"', 'failed'],
  ['{"status":"done","error":"no"', 'failed'],
  ['{"status":"queued"', 'pending'],
])('the members next to such a part are read: %s', (head, kind) => {
  expect(poll(`${head},"output":[${boxes}]}`).outcome.kind).toBe(kind);
});
