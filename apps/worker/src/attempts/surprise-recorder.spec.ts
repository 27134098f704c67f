import { expect, it } from '@jest/globals';
import { Metrics } from '#observability';
import type { NotedSurprise } from '#persistence';
import type { HttpReply, Surprise } from '#providers';
import { SurpriseRecorder } from './surprise-recorder.js';

const provider = { name: 'bfl' };
const unknown: Surprise = { kind: 'unknown_status', note: 'It says “Bearer key-of-the-provider”.' };
const reply = (body: string): HttpReply => ({ status: 200, headers: {}, body: Buffer.from(body) });
const prompt = Array.from({ length: 60 }, (_, nth) => `word${nth * 31}`).join(' ');

function recorder(input?: object) {
  const written: NotedSurprise[][] = [];
  const warnings: string[] = [];
  const metrics = new Metrics();
  const state = { isDown: false };
  const surprises = new SurpriseRecorder(
    {
      note: async (noted) => {
        if (state.isDown) throw new Error('down');
        written.push([...noted]);
      },
    },
    {
      inputsOf: async (ids) =>
        new Map(input ? ids.map((id) => [id, Buffer.from(JSON.stringify(input))]) : []),
    },
    metrics,
    { warn: (_facts, message) => void warnings.push(message) },
  );
  return { surprises, written, warnings, metrics, state };
}

it('counts each reply, and writes the newest of each provider and kind', async () => {
  const { surprises, written, metrics } = recorder();
  surprises.note(provider, 'first', unknown, reply('{"status":"Composing"}'));
  surprises.note(provider, 'second', unknown, reply('{"status":"Painting"}'));
  surprises.note({ name: 'fal' }, 'third', { kind: 'missing_cost', note: 'No cost.' });
  await surprises.write();
  expect(written).toEqual([
    [
      {
        provider: 'bfl',
        kind: 'unknown_status',
        count: 2,
        agoMs: expect.any(Number),
        runId: 'second',
        detail: 'It says “Bearer [redacted]”.',
        httpStatus: 200,
        reply: '{"status":"Painting"}',
      },
      {
        provider: 'fal',
        kind: 'missing_cost',
        count: 1,
        agoMs: expect.any(Number),
        runId: 'third',
        detail: 'No cost.',
      },
    ],
  ]);
  await surprises.write();
  expect(written).toHaveLength(1);
  const { values } = await metrics.providerSurprises.get();
  expect(values.map(({ labels, value }) => [labels, value])).toEqual([
    [{ provider: 'bfl', kind: 'unknown_status' }, 2],
    [{ provider: 'fal', kind: 'missing_cost' }, 1],
  ]);
});

it('writes no key, no signed link and no prompt, and at most 2 KiB', async () => {
  const { surprises, written } = recorder({ prompt });
  const body = JSON.stringify({
    status: 'Composing',
    token: 'key-of-the-provider',
    url: 'https://cdn.example/a.png?sig=abcdef',
    prompt,
    log: 'é '.repeat(5000),
  });
  surprises.note(provider, 'run', unknown, reply(body));
  await surprises.write();
  const shown = written[0]?.[0]?.reply ?? '';
  expect(shown).toContain('"status":"Composing"');
  expect(shown).not.toMatch(/key-of-the-provider|sig=|word1829/);
  expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(2048);
});

it('shortens every long text if the input cannot be compared with', async () => {
  const { surprises, written } = recorder();
  surprises.note(provider, 'run', unknown, reply(JSON.stringify({ status: 'Composing', prompt })));
  await surprises.write();
  expect(written[0]?.[0]?.reply).toMatch(/more characters\]/);
});

it('loses what the database does not take, and says so at the end', async () => {
  const { surprises, warnings, state } = recorder();
  state.isDown = true;
  surprises.note(provider, 'run', unknown);
  await surprises.beforeApplicationShutdown();
  expect(warnings).toEqual(['could not write unexpected replies; operators will not see them']);
});
