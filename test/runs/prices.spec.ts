import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, newTag, sharedSystem, type TestCaller, transports, waitFor } from '../harness/index.js';

interface Billed {
  reserved: number;
  billed: number;
  basis: string | null;
}

const costOf = ({ headers }: Answer) => headers.get('x-service-cost-cents');

describe.each(transports().slice(0, 1))('what runs are billed on %s', (transport) => {
  const system = sharedSystem(transport);
  const own = newTag('bfl/priced');
  let caller: TestCaller;

  const row = (name: string, price: string) =>
    `id: ${own}-${name}\nupstream: { path: flux-2-pro }\ncharges_on_policy_rejection: yes\nprice: ${price}\n`;

  beforeAll(async () => {
    caller = await system.caller({ balanceMicros: 100_000_000 });
    const reported = 'reported: [{ path: /cost, usd: 0.01 }]';
    const file = own.replace('/', '-');
    await system.serve({
      [`${file}-flat.yaml`]: row('flat', '{ usd: 0.070001 }'),
      [`${file}-low.yaml`]: row('low', `{ usd: 0.01, ${reported} }`),
      [`${file}-high.yaml`]: row('high', `{ usd: 0.5, ${reported} }`),
    });
  });

  const run = (model: string, input: object, as = caller, headers: Record<string, string> = {}) =>
    as.call('POST', `/v2/models/${model}`, { body: JSON.stringify(input), headers });

  /** In cents, according to the call's audit record and ledger entry. */
  const billedFor = async ({ headers }: Answer): Promise<Billed> => {
    const [record] = await system.sql<Billed & { ledger: number | null; same: boolean }>(
      `SELECT cost_micros::float / 10000 AS reserved, billed_micros::float / 10000 AS billed, audit_record.basis,
         -amount_micros::float / 10000 AS ledger, audit_record.basis = ledger_entry.basis AS same
       FROM audit_record LEFT JOIN ledger_entry USING (run_id) WHERE request_id = $1`,
      [headers.get('x-service-request-id')],
    );
    if (!record) throw new Error('no audit record was found');
    const { ledger, same, ...billed } = record;
    expect([ledger ?? 0, same ?? true]).toEqual([billed.billed, true]);
    return billed;
  };

  it.each<[string, string, object, Billed]>([
    [
      'the submission’s reply reports',
      'bfl/flux-2-pro',
      { prompt: 'a', width: 1024, height: 1024 },
      { reserved: 4.5, billed: 3, basis: 'reported' },
    ],
    [
      'the result reports',
      'recraft/recraftv4',
      { prompt: 'a [[sim:cost=30]]' },
      { reserved: 4, billed: 3, basis: 'reported' },
    ],
    [
      'the result reports in tokens',
      'openai/gpt-image-1.5',
      { prompt: 'a [[sim:cost=272]]', quality: 'low', size: '1024x1024' },
      { reserved: 0.909, billed: 0.8954, basis: 'reported' },
    ],
    [
      'a header of a file reports',
      'elevenlabs/multilingual-v2-aria',
      { text: 'Good morning. [[sim:cost=36]]' },
      { reserved: 0.87, billed: 0.36, basis: 'reported' },
    ],
    [
      'is computed from the input',
      'ideogram/ideogram-v3',
      { prompt: 'a', rendering_speed: 'TURBO', num_images: 2 },
      { reserved: 6, billed: 6, basis: 'computed' },
    ],
    [
      'is computed from the length of a text',
      'openai/tts-1',
      { input: 'x'.repeat(36), voice: 'alloy' },
      { reserved: 0.054, billed: 0.054, basis: 'computed' },
    ],
    ['has no factors', `${own}-flat`, { prompt: 'a' }, { reserved: 7.0001, billed: 7.0001, basis: 'flat' }],
  ])('is what %s', async (_what, model, input, expected) => {
    const answer = await run(model, input);
    expect(answer.status).toBe(200);
    expect(await billedFor(answer)).toEqual(expected);
    expect(costOf(answer)).toBe(String(expected.billed));
  });

  it('is the reserved amount if the provider reports more, which is logged and counted', async () => {
    const answer = await run(`${own}-low`, { prompt: 'a [[sim:cost=5]]' });
    expect(await billedFor(answer)).toEqual({ reserved: 1, billed: 1, basis: 'reported' });
    const logs = () => system.workers.map((worker) => worker.logs()).join('');
    await waitFor(
      () => logs().includes(`${own}-low","reported_micros":50000,"provider_overshoot_micros":40000`),
      {
        withinMs: 10_000,
        what: 'the log line',
      },
    );
    const metrics = await Promise.all(
      system.workers.map(async ({ internalUrl }) => (await fetch(`${internalUrl}/metrics`)).text()),
    );
    expect(metrics.join('')).toMatch(/router_price_bound_exceeded_total\{provider="bfl"\} [1-9]/);
  });

  it('is multiplied by the mark-up of the workspace', async () => {
    const reseller = await system.caller({ markup: 1.2 });
    const answer = await run('bfl/flux-2-pro', { prompt: 'a', width: 1024, height: 1024 }, reseller);
    expect(await billedFor(answer)).toEqual({ reserved: 5.4, billed: 3.6, basis: 'reported' });
    expect(costOf(answer)).toBe('3.6');
  });

  it('is the cost of a charged policy refusal, and nothing for another failure', async () => {
    const refused = await run(`${own}-high`, { prompt: '[[sim:policy_output]][[sim:cost=4]]' });
    expect([refused.status, refused.bucket, costOf(refused)]).toEqual([400, 'content_policy_violation', '4']);
    expect(await billedFor(refused)).toEqual({ reserved: 50, billed: 4, basis: 'reported' });
    const failed = await run(`${own}-high`, { prompt: '[[sim:job_failed]][[sim:cost=4]]' });
    expect([failed.status, costOf(failed)]).toEqual([502, '0']);
    expect(await billedFor(failed)).toEqual({ reserved: 50, billed: 0, basis: null });
  });

  it('is reported by replays, and not by a call without an outcome', async () => {
    const headers = { 'idempotency-key': newTag('priced') };
    const first = await run(`${own}-high`, { prompt: 'replayed' }, caller, headers);
    const again = await run(`${own}-high`, { prompt: 'replayed' }, caller, headers);
    expect([costOf(first), costOf(again)]).toEqual(['3', '3']);
    const refused = await run(`${own}-high`, {}, caller, headers);
    expect([refused.status, costOf(refused)]).toEqual([409, null]);
  });

  it('is reported by the status and the result of a completed queued run', async () => {
    const queued = await caller.submit(`${own}-high`, JSON.stringify({ prompt: '[[sim:takes=1500]]' }));
    expect(costOf(await caller.status(queued))).toBeNull();
    expect(costOf(await caller.collect(queued))).toBeNull();
    await caller.completed(queued);
    expect(costOf(await caller.status(queued))).toBe('3');
    expect(costOf(await caller.collect(queued))).toBe('3');
  });
});
