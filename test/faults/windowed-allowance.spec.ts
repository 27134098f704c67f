import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { type Answer, failOnLeftovers, transports, waitFor } from '../harness/index.js';
import { clockOff } from './clock-off.js';

const windowLimit = 25;

describe.each(transports().slice(0, 1))(
  'the runs-per-minute limit at the edge of a window, on %s',
  (transport) => {
    let system: System;

    beforeAll(async () => {
      system = await System.start({ transport, gateways: 0, takesMs: 200 });
      // The largest allowed skew; beyond it the gateways would not be ready.
      await Promise.all([system.startGateway(clockOff('+1.5s')), system.startGateway(clockOff('-1.5s'))]);
    });
    afterAll(() => system.stop());

    const secondOfMinute = async () => {
      const [row] = await system.sql<{ second: number }>(
        `SELECT extract(second FROM clock_timestamp())::float AS second`,
      );
      return row?.second ?? 0;
    };

    it('has two gateways whose clocks are three seconds apart', async () => {
      const clocks = await Promise.all(
        system.gateways.map(async ({ url }) => {
          // Only an immediate answer shows how far the clock is off.
          const promptly = async () => {
            const askedAtMs = Date.now();
            const response = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(5_000) });
            await response.body?.cancel();
            const offMs = Date.parse(response.headers.get('date') ?? '') - askedAtMs;
            return Date.now() - askedAtMs < 200 && { offMs };
          };
          return waitFor(promptly, { withinMs: 20_000, what: 'a prompt answer' });
        }),
      );
      // In whichever order they became ready.
      const [one = 0, other = 0] = clocks.map(({ offMs }) => offMs);
      const apart = Math.round(Math.abs(one - other) / 1000);
      expect(apart).toBeGreaterThanOrEqual(2);
      expect(apart).toBeLessThanOrEqual(4);
    });

    it(`admits exactly ${windowLimit} a minute by the database’s clock, whatever the gateways’ clocks say`, async () => {
      const caller = await system.caller({
        inflightLimit: 1_000,
        windowLimit,
        committedLimitMicros: 1_000_000_000,
      });
      await waitFor(async () => isEarly(await secondOfMinute()), {
        withinMs: 122_000,
        what: 'the last seconds of a minute to come',
        everyMs: 200,
      });
      // From eight seconds before the edge to seven after it, so that each gateway's own edge is included.
      const answers: Answer[] = [];
      let crossed = false;
      for (let round = 0; ; round += 1) {
        const second = await secondOfMinute();
        crossed ||= second < 30;
        if (crossed && second > 7) break;
        answers.push(
          ...(await Promise.all(
            Array.from({ length: 12 }, (_each, index) =>
              caller.call('POST', '/v2/models/bfl/flux-2-pro/requests', {
                body: JSON.stringify({ prompt: `${round} ${index} [[sim:tag=window]]` }),
                gateway: index % 2,
              }),
            ),
          )),
        );
      }

      const windows = await system.sql<{ admitted: number }>(
        `SELECT count(*)::integer AS admitted FROM run WHERE workspace_id = $1
       GROUP BY date_trunc('minute', admitted_at) ORDER BY date_trunc('minute', admitted_at)`,
        [caller.workspaceId],
      );
      expect(windows.map((row) => row.admitted)).toEqual([windowLimit, windowLimit]);
      const refused = answers.filter((answer) => answer.status !== 201);
      expect(answers.length - refused.length).toBe(2 * windowLimit);
      expect(refused.length).toBeGreaterThan(windowLimit);
      for (const answer of refused) {
        expect([answer.status, answer.bucket]).toEqual([429, 'rate_limited']);
        expect(answer.json()['detail']).toMatch(new RegExp(`${windowLimit} runs per minute`));
        expect(answer.headers.has('retry-after')).toBe(false);
      }
      await holdToInvariants(system);
      expect(await system.provider.accepted('window')).toBe(2 * windowLimit);
    });
  },
);

/** Early enough before the edge for a window to fill. */
const isEarly = (second: number): boolean => second > 52 && second < 55;

failOnLeftovers();
