import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerOf, runAdmin } from '../admin/run-admin.js';
import { System, withTools } from '../harness/faults.js';
import {
  failOnLeftovers,
  json,
  ScriptedServer,
  temporaryFolder,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';
import { prod, testRules, within } from './promtool.js';

const { describeWith, tools } = await withTools('promtool');

const model = 'lab/acme-chat';
/** The tokens that a call allows, and those that the provider charges, at 1,500 dollars per million. */
const [allowed, charged] = [1_000, 2_000];
const dollarsPerToken = 0.0015;
const input = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: allowed });
/** News of the first run reach each gateway within this time. */
const newsMs = 1_000;

interface Listed {
  overshoots: { model: string; lift: number; runs: number; lost_cents: number; request_id: string }[];
}

describe.each(transports())(
  'a provider of an imported row that charges twice the reserve, on %s',
  (transport) => {
    let provider: ScriptedServer;
    let system: System;
    let caller: TestCaller;
    let env: Record<string, string>;

    beforeAll(async () => {
      provider = await ScriptedServer.start();
      const directory = temporaryFolder('imported');
      provider.paths.set(
        '/v1/models',
        json({ data: [{ id: 'acme-chat', object: 'model', max_model_len: 8192 }] }),
      );
      const usage = { prompt_tokens: 0, completion_tokens: charged, total_tokens: charged };
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }];
      provider.paths.set(
        '/v1/chat/completions',
        json({ id: 'c', object: 'chat.completion', choices, usage }),
      );
      const words = ['--base-url', `${provider.url}/v1`, '--to', directory];
      const prices = ['--usd-per-million-input', '0.5', '--usd-per-million-output', '1500'];
      const imported = await runAdmin(
        {},
        'catalog',
        'import',
        'openai-compatible',
        'lab',
        ...words,
        ...prices,
      );
      if (imported.code !== 0) throw new Error(imported.error);
      const settings = { CATALOG_DIR: directory, PROVIDER_LAB_KEY: 'key-of-lab' };
      system = await System.start({ transport, gateways: 2, env: settings });
      env = { DATABASE_URL: system.database.url };
      caller = await system.caller({ balanceMicros: 100_000_000 });
    });
    afterAll(async () => {
      await system.stop();
      await provider.stop();
    });

    const run = async (gateway: number) => {
      const answer = await caller.call('POST', `/v2/models/${model}`, { body: input, gateway });
      expect(answer.status).toBe(200);
      const [row] = await system.sql<{ id: string; reserved: number; billed: number }>(
        'SELECT id, reserved_micros::float / 1e6 AS reserved, billed_micros::float / 1e6 AS billed FROM run WHERE id = $1',
        [answer.headers.get('x-service-run-id')],
      );
      if (!row) throw new Error('no run was found');
      return row;
    };

    const reservedBy = async (gateway: number): Promise<number> => {
      const quoted = await caller.call('POST', `/v2/models/${model}/cost`, { body: input, gateway });
      return Number(quoted.json()['reserved_cents']) / 100;
    };

    /** Waits until both gateways reserve the amount, and returns for how long. */
    async function reservesSoon(dollars: number): Promise<number> {
      const sinceMs = performance.now();
      for (const gateway of [0, 1])
        await waitFor(async () => Math.abs((await reservedBy(gateway)) - dollars) < 0.001, {
          withinMs: 10_000,
          what: `gateway ${gateway} to reserve ${dollars} dollars`,
          everyMs: 20,
        });
      return performance.now() - sinceMs;
    }

    /** The series with what was lost, as the worker exports it, and its value. */
    async function lostSeries(): Promise<{ name: string; value: number }> {
      const pages = await Promise.all(
        system.workers.map(async ({ internalUrl }) => (await fetch(`${internalUrl}/metrics`)).text()),
      );
      const [, name = '', value] =
        /^(router_provider_overshoot_dollars_total\{[^}]*\}) (\S+)$/m.exec(pages.join('\n')) ?? [];
      return { name, value: Number(value) };
    }

    it('is reserved by the next run, listed, counted in money, and cleared', async () => {
      const first = await run(0);
      expect(first.reserved).toBeCloseTo(allowed * dollarsPerToken, 2);
      expect(first.billed).toBe(first.reserved);
      const tookMs = await reservesSoon(charged * dollarsPerToken);
      process.stdout.write(`both gateways reserve more after ${Math.round(tookMs)} ms (${transport})\n`);
      expect(tookMs).toBeLessThan(newsMs);
      const second = await run(1);
      expect(second.reserved).toBeCloseTo(charged * dollarsPerToken, 3);
      expect(second.billed).toBe(charged * dollarsPerToken);

      const lost = charged * dollarsPerToken - first.billed;
      const { overshoots } = await answerOf<Listed>(env, 'catalog', 'overshoot');
      expect(overshoots).toEqual([
        expect.objectContaining({
          model,
          runs: 1,
          request_id: first.id,
          lost_cents: expect.closeTo(lost * 100, 3),
        }),
      ]);
      expect(overshoots[0]?.lift).toBeCloseTo((charged * dollarsPerToken) / first.reserved, 6);
      const { name, value } = await lostSeries();
      expect(name).toContain('provider="lab"');
      expect(name).toContain(`model="${model}"`);
      expect(value).toBeCloseTo(lost, 6);

      expect(await answerOf(env, 'catalog', 'overshoot', model, '--clear')).toEqual({ cleared: 1 });
      expect(await answerOf(env, 'catalog', 'overshoot')).toEqual({ overshoots: [] });
      expect(await reservesSoon(first.reserved)).toBeLessThan(newsMs);
    });

    describeWith('the alert', () => {
      it('fires on what the worker counted, with the model', async () => {
        const { name, value } = await lostSeries();
        const { status, output } = testRules(tools.promtool, [
          {
            name: 'a loss that was just counted',
            interval: '1m',
            series: within(prod, { [name]: `_x80 ${value}x20` }),
            expected: [
              {
                at: '90m',
                expression: `count by (provider, model) (ALERTS{alertname="RouterPriceBoundExceeded",alertstate="firing"})`,
                samples: [{ labels: `{provider="lab", model="${model}"}`, value: 1 }],
              },
            ],
          },
        ]);
        expect(output).not.toContain('FAILED');
        expect(status).toBe(0);
      });
    });
  },
);

failOnLeftovers();
