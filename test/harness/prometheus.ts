import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { checkout } from '../../apps/local/src/checkout.js';
import { freePort } from './ports.js';
import { temporaryFolder, trackChild } from './running.js';
import type { RunningApp } from './spawn-app.js';
import { waitFor } from './wait-for.js';

export interface Sample {
  metric: Record<string, string>;
  value: [seconds: number, value: string];
}
interface ActiveAlert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  state: 'pending' | 'firing';
  activeAt: string;
}

export interface Prometheus {
  /** The series that an expression returns now, or at a time in seconds; throws if Prometheus cannot parse it. */
  query(expression: string, atSeconds?: number): Promise<Sample[]>;
  /** The alerts that are pending or firing now. */
  alerts(): Promise<ActiveAlert[]>;
  stop(): Promise<void>;
}

/** A target beside the apps, whose own labels win over those given here. */
export interface OtherTarget {
  host: string;
  labels: Record<string, string>;
}
interface Options {
  /** The installations to scrape: their apps, with the labels that the operator's PodMonitor would add. */
  installations: readonly { labels: Record<string, string>; apps: readonly RunningApp[] }[];
  others?: readonly OtherTarget[];
  /** The text of the rules; by default the committed ones. */
  rules?: string;
  /** Interval of scrapes and evaluations. */
  everySeconds: number;
}

/** The labels of an installation. */
export const installation = { namespace: 'prod', cluster: 'eu' };

export const committedRules = (): string =>
  readFileSync(path.join(checkout, 'monitoring', 'rules.yaml'), 'utf8');

/** A real Prometheus that scrapes the apps and evaluates the alerts. */
export async function startPrometheus(program: string, options: Options): Promise<Prometheus> {
  const { installations, others = [], rules = committedRules(), everySeconds } = options;
  const folder = temporaryFolder('prometheus');
  const port = await freePort();
  const jobs = installations.flatMap(({ labels, apps }) =>
    apps.map(({ name, internalUrl }) => target(new URL(internalUrl).host, { ...labels, app: name })),
  );
  const interval = `${everySeconds * 1000}ms`;
  const configuration = {
    global: { scrape_interval: interval, evaluation_interval: interval },
    rule_files: [path.join(folder, 'rules.yaml')],
    scrape_configs: [
      { job_name: 'apps', static_configs: jobs },
      {
        job_name: 'others',
        honor_labels: true,
        static_configs: others.map(({ host, labels }) => target(host, labels)),
      },
    ],
  };
  writeFileSync(path.join(folder, 'rules.yaml'), rules);
  writeFileSync(path.join(folder, 'prometheus.yaml'), stringify(configuration));
  const child = spawn(
    program,
    [
      `--config.file=${path.join(folder, 'prometheus.yaml')}`,
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
  const get = async <T>(address: string): Promise<T> => {
    const reply = await fetch(`${base}/api/v1/${address}`, { signal: AbortSignal.timeout(30_000) });
    const { status, error, data } = (await reply.json()) as { status: string; error?: string; data: T };
    if (status !== 'success') throw new Error(`${address}: ${error}`);
    return data;
  };
  return {
    query: async (expression, atSeconds) => {
      const at = atSeconds === undefined ? '' : `&time=${atSeconds}`;
      return (await get<{ result: Sample[] }>(`query?query=${encodeURIComponent(expression)}${at}`)).result;
    },
    alerts: async () => (await get<{ alerts: ActiveAlert[] }>('alerts')).alerts,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const target = (host: string, labels: Record<string, string>) => ({ targets: [host], labels });
