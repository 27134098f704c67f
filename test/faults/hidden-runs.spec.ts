import { expect, it } from '@jest/globals';
import { gatewayForFile } from '../routes/gateways.js';

const gateway = gatewayForFile();
const model = 'bfl/flux-2-pro';
const nowhere = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

it.each([
  ['GET', '/status'],
  ['GET', ''],
  ['PUT', '/cancel'],
])(
  '%s …/requests/{request_id}%s takes as long for another workspace’s run as for an unknown one',
  async (method, rest) => {
    const [{ caller: owner }, { caller: stranger }] = [await gateway().caller(), await gateway().caller()];
    const run = await owner.submit(model, '{"prompt":"x"}');
    await gateway().dispatch(run);
    const ids = { elsewhere: run.requestId, nowhere };
    const ratios: number[] = [];
    // Each time is compared with the one measured beside it, because a slow moment of the machine affects both.
    // The first rounds are a warm-up.
    for (let round = 0; round < 220; round += 1) {
      const times = { elsewhere: 0, nowhere: 0 };
      for (const kind of round % 2
        ? (['elsewhere', 'nowhere'] as const)
        : (['nowhere', 'elsewhere'] as const)) {
        const startedMs = performance.now();
        await stranger.call(method, `/v2/models/${model}/requests/${ids[kind]}${rest}`);
        times[kind] = performance.now() - startedMs;
      }
      if (round >= 20) ratios.push(times.elsewhere / times.nowhere);
    }
    const ratio = median(ratios);
    expect(ratio).toBeGreaterThan(0.7);
    expect(ratio).toBeLessThan(1.4);
  },
);
