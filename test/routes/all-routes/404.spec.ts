import { expect, it } from '@jest/globals';
import type { Caller, Submitted } from '../../harness/index.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const model = 'bfl/flux-2-pro';
const nobodys = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

const asks = [
  ['GET', 'status'],
  ['GET', ''],
  ['PUT', 'cancel'],
] as const;

const ask = async (caller: Caller, [method, tail]: (typeof asks)[number], address: string, id: string) =>
  caller.call(method, `/v2/models/${address}/requests/${id}${tail && `/${tail}`}`);

async function strangers(): Promise<{ owner: Caller; stranger: Caller; runs: Submitted[] }> {
  const [{ caller: owner }, { caller: stranger }] = [await gateway().caller(), await gateway().caller()];
  const waiting = await owner.submit(model, '{"prompt":"x"}');
  const running = await owner.submit(model, '{"prompt":"x"}');
  await gateway().dispatch(running);
  return { owner, stranger, runs: [waiting, running] };
}

it.each(asks)(
  'answers %s …/%s the same for a run of another workspace, for none, and under a wrong model',
  async (...route) => {
    const { owner, stranger, runs } = await strangers();
    const answers = [];
    for (const { requestId } of runs) {
      answers.push(await ask(stranger, route, model, requestId));
      answers.push(await ask(owner, route, 'bfl/flux-2-flex', requestId));
    }
    answers.push(await ask(stranger, route, model, nobodys), await ask(owner, route, model, nobodys));
    const [{ bytes } = { bytes: Buffer.of() }] = answers;
    for (const answer of answers) {
      expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
      expect(answer.bytes.equals(bytes)).toBe(true);
      expect([...answer.headers.keys()].sort()).toEqual([...(answers[0]?.headers.keys() ?? [])].sort());
    }
    // The owner still finds them, unchanged by a stranger's cancellation ask.
    const states = await Promise.all(runs.map(async (run) => (await owner.status(run)).json()['status']));
    expect(states).toEqual(['IN_QUEUE', 'IN_PROGRESS']);
  },
);

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

it.each(asks)(
  'takes the same time for %s …/%s whether the run exists elsewhere or nowhere',
  async (...route) => {
    const { stranger, runs } = await strangers();
    const ids = { elsewhere: runs[1]?.requestId ?? '', nowhere: nobodys };
    const ratios: number[] = [];
    // Each time is held against that of the moment beside it: a machine that is slow for a while is so for both.
    // The first rounds only warm up.
    for (let round = 0; round < 220; round += 1) {
      const times = { elsewhere: 0, nowhere: 0 };
      for (const kind of round % 2
        ? (['elsewhere', 'nowhere'] as const)
        : (['nowhere', 'elsewhere'] as const)) {
        const startedMs = performance.now();
        await ask(stranger, route, model, ids[kind]);
        times[kind] = performance.now() - startedMs;
      }
      if (round >= 20) ratios.push(times.elsewhere / times.nowhere);
    }
    const ratio = median(ratios);
    expect(ratio).toBeGreaterThan(0.7);
    expect(ratio).toBeLessThan(1.4);
  },
);
