import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { textOf } from '../documents/checkout-files.js';
import { freePort, type App } from '../harness/faults.js';
import { temporaryFolder, trackChild, waitFor } from '../harness/index.js';

export interface Prometheus {
  /** The series that an expression returns now; throws if Prometheus cannot parse it. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>;
  stop(): Promise<void>;
}

/** The labels that this Prometheus adds, as the operator's PodMonitor does. */
export const installation = { namespace: 'prod', cluster: 'eu' };

/** A real Prometheus that scrapes the apps and evaluates the recording rules every second. */
export async function startPrometheus(program: string, apps: readonly App[]): Promise<Prometheus> {
  const folder = temporaryFolder('prometheus');
  const port = await freePort();
  const jobs = ['gateway', 'worker'].map((name) => ({
    job_name: name,
    static_configs: [
      {
        targets: apps.filter((app) => app.name === name).map((app) => new URL(app.internalUrl).host),
        labels: { app: name, ...installation },
      },
    ],
  }));
  const file = path.join(folder, 'prometheus.yaml');
  // The committed interval of a minute would be longer than the test.
  const rules = path.join(folder, 'rules.yaml');
  writeFileSync(rules, textOf('monitoring/rules.yaml').replace('interval: 1m', 'interval: 1s'));
  const configuration = { global: { scrape_interval: '1s' }, rule_files: [rules], scrape_configs: jobs };
  writeFileSync(file, stringify(configuration));
  const child = spawn(
    program,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  trackChild(child, 'prometheus');
  const base = `http://127.0.0.1:${port}`;
  const ready = async () => (await fetch(`${base}/-/ready`, { signal: AbortSignal.timeout(2_000) })).ok;
  await waitFor(ready, { withinMs: 90_000, what: 'Prometheus', everyMs: 100 });
  return {
    query: async (expression) => {
      const url = `${base}/api/v1/query?query=${encodeURIComponent(expression)}`;
      const reply = await fetch(url, { signal: AbortSignal.timeout(30_000) });
      const { status, error, data } = (await reply.json()) as {
        status: string;
        error?: string;
        data: { result: { metric: Record<string, string>; value: [number, string] }[] };
      };
      if (status !== 'success') throw new Error(`${expression}: ${error}`);
      return data.result;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
