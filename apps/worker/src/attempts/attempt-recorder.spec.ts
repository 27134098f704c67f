import { expect, it } from '@jest/globals';
import { RouterError } from '#errors';
import type { AttemptRepository } from '#persistence';
import type { HttpReply } from '#providers';
import { AttemptRecorder } from './attempt-recorder.js';

const provider = { name: 'fal' };
const trouble = { phase: 'submit', class: 'provider_failed', retry: 'never', reading: 'It failed.' } as const;
const reply = (body: string | Uint8Array, headers = {}): HttpReply => ({
  status: 500,
  headers,
  body: typeof body === 'string' ? Buffer.from(body) : body,
});
type Noted = Parameters<AttemptRepository['note']>[0];

function recorder(inputs: Record<string, string> = {}, note?: AttemptRepository['note']) {
  const written: Noted[number][] = [];
  const read: string[] = [];
  const warnings: string[] = [];
  const attempts = new AttemptRecorder(
    {
      note: note ?? (async (runs: Noted) => void written.push(...runs)),
      inputsOf: async (ids: readonly string[]) => {
        read.push(...ids);
        return new Map(
          ids.flatMap((id) => (inputs[id] === undefined ? [] : [[id, Buffer.from(inputs[id])]])),
        );
      },
    },
    { warn: (_facts, message) => void warnings.push(message) },
  );
  return { attempts, written, read, warnings };
}

const prompt = Array.from({ length: 60 }, (_, nth) => `word${nth * 31}`)
  .join(' ')
  .slice(0, 300);

it('writes status, class, the provider’s id of the call and the beginning of the reply', async () => {
  const { attempts, written, read } = recorder();
  attempts.note(provider, 'run', trouble, reply('{"error":"busy"}', { 'x-request-id': 'req-7' }));
  await attempts.write(Infinity);
  expect(written).toEqual([
    {
      runId: 'run',
      leftOut: 0,
      attempts: [
        {
          ...trouble,
          provider: 'fal',
          status: 500,
          requestId: 'req-7',
          reply: '{"error":"busy"}',
          count: 1,
          firstAgoMs: expect.any(Number),
          lastAgoMs: expect.any(Number),
        },
      ],
    },
  ]);
  // A reply this short cannot quote more of an input than may be shown.
  expect(read).toEqual([]);
});

it('writes at most 2 KiB of a reply, without the key, URLs and the prompt that it quotes', async () => {
  const { attempts, written } = recorder({ run: JSON.stringify({ prompt }) });
  const body = `{"api_key":"key-of-the-provider","url":"https://cdn.example/x?sig=1","prompt":"${prompt}","log":"${'é '.repeat(5000)}"}`;
  attempts.note(provider, 'run', trouble, reply(body));
  await attempts.write(Infinity);
  const shown = written[0]?.attempts[0]?.reply ?? '';
  expect(Buffer.byteLength(shown)).toBeGreaterThan(2000);
  expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(2048);
  expect(shown).toMatch(/^\{"api_key":"\[redacted\]","url":"https:\/\/cdn.example\/…","prompt":"word0 /);
  expect(shown).toContain('characters of the input]');
  expect(shown).not.toContain(prompt.slice(0, 201));
  expect(shown).not.toContain('\uFFFD');
});

it('shortens every long string of a reply if the input cannot be compared', async () => {
  const { attempts, written } = recorder();
  attempts.note(provider, 'run', trouble, reply(`{"detail":"${prompt}"}`));
  await attempts.write(Infinity);
  expect(written[0]?.attempts[0]?.reply).toMatch(/^\{"detail":"word0 .*\[\d+ more characters\]"\}$/);
});

it('leaves out a reply that is not text, and has none for a call without a reply', async () => {
  const { attempts, written } = recorder();
  attempts.note(provider, 'image', trouble, reply(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2])));
  attempts.note(provider, 'silence', trouble, { fault: 'ambiguous', cause: 'timeout' });
  await attempts.write(Infinity);
  expect(written.map(({ attempts: [only] }) => [only?.status, only?.reply])).toEqual([
    [500, undefined],
    [undefined, undefined],
  ]);
});

it('drops attempts that the database does not take, and goes on', async () => {
  const away = recorder({}, async () =>
    Promise.reject(new RouterError('service_unavailable', 'away', { internal: 'away' })),
  );
  away.attempts.onApplicationBootstrap();
  away.attempts.note(provider, 'run', trouble);
  await away.attempts.beforeApplicationShutdown();
  expect(away.warnings).toHaveLength(1);
});

it('a stopping worker waits a limited time for the last write', async () => {
  const { attempts } = recorder({}, () => new Promise(() => {}));
  attempts.onApplicationBootstrap();
  attempts.note(provider, 'run', trouble);
  await expect(attempts.beforeApplicationShutdown()).resolves.toBeUndefined();
});

it('keeps what the database did not take in an outage, and nothing that it refuses', async () => {
  const errors: unknown[] = [new RouterError('service_unavailable', 'away'), new Error('refused')];
  const counts: number[] = [];
  const { attempts } = recorder({}, async (runs) => {
    counts.push(runs.length);
    const error = errors.shift();
    if (error !== undefined) throw error;
  });
  attempts.note(provider, 'run', trouble);
  for (let nth = 0; nth < 3; nth += 1) await attempts.write(Infinity).catch(() => {});
  expect(counts).toEqual([1, 1]);
});
