import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathOf } from '../documents/checkout-files.js';
import { callsMade, metric } from '../faults/metrics.js';
import { type App, System, withTools } from '../harness/faults.js';
import { failOnLeftovers, temporaryFolder, transports } from '../harness/index.js';

const { describeWith, tools } = await withTools('promtool');
const lateness = 'router_provider_poll_lateness_seconds';
const model = 'ltx/ltx-2-5-fast';
/** LTX is polled every 5 s, so each of these runs is polled at least three times. */
const body = JSON.stringify({ prompt: '[[sim:takes=16000]]', duration: 5, resolution: '1280x720' });
const runs = 20;
const minPolls = 3 * runs;

/** The samples of a histogram's bucket, or all of them, of each worker. */
const samples = (workers: readonly App[], name: string, labels: Record<string, string> = {}) =>
  Promise.all(workers.map((worker) => metric(worker, name, labels)));
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

describe.each(transports())('polls of two idle workers, on %s', (transport) => {
  let system: System;

  beforeAll(async () => {
    system = await System.start({ transport, workers: 2, env: { ASSET_MEDIA_TYPES: 'no/media' } });
    const caller = await system.caller({ inflightLimit: runs });
    const submitted = await Promise.all(Array.from({ length: runs }, () => caller.submit(model, body)));
    await Promise.all(submitted.map((run) => caller.completed(run, 60_000)));
  });
  afterAll(() => system.stop());

  it('are measured on whichever worker takes them, each against its own due time', async () => {
    const taken = await samples(system.workers, `${lateness}_count`, { provider: 'ltx' });
    expect(Math.min(...taken)).toBeGreaterThan(0);
    expect(sum(taken)).toBeGreaterThanOrEqual(minPolls);
    expect(taken).toEqual(await Promise.all(system.workers.map((worker) => callsMade(worker, 'resume'))));
  });

  it('start less than half a second late', async () => {
    const { workers } = system;
    const polls = await samples(workers, `${lateness}_count`);
    expect(await samples(workers, `${lateness}_bucket`, { le: '0.5' })).toEqual(polls);
    const inTime = { queue: 'poll', le: '0.5' };
    expect(await samples(workers, 'router_queue_wait_seconds_bucket', inTime)).toEqual(polls);
  });

  describeWith('with Prometheus’ own tool', () => {
    it('do not fire RouterPollsLate', async () => {
      const exposed = await Promise.all(
        system.workers.map(async ({ internalUrl }) => (await fetch(`${internalUrl}/metrics`)).text()),
      );
      const series = exposed.flatMap((text, index) =>
        [...text.matchAll(new RegExp(`^(${lateness}_bucket\\{.+)\\} (\\d+)$`, 'gm'))].map(
          ([, name = '', count = '']) => ({
            series: `${name},instance="worker-${index}"}`,
            values: `0+${count}x30`,
          }),
        ),
      );
      expect(series.length).toBeGreaterThan(0);
      const folder = temporaryFolder('polls');
      const file = path.join(folder, 'test.json');
      const test = {
        interval: '1m',
        input_series: series,
        alert_rule_test: [{ eval_time: '30m', alertname: 'RouterPollsLate', exp_alerts: [] }],
      };
      writeFileSync(file, JSON.stringify({ rule_files: [pathOf('monitoring/rules.yaml')], tests: [test] }));
      const { status, stdout, stderr } = spawnSync(tools.promtool, ['test', 'rules', file], {
        encoding: 'utf8',
        timeout: 180_000,
      });
      rmSync(folder, { recursive: true });
      expect(stdout + stderr).not.toContain('FAILED');
      expect(status).toBe(0);
    });
  });
});

failOnLeftovers();
