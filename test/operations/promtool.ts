import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathOf } from '../documents/checkout-files.js';
import { temporaryFolder } from '../harness/index.js';

/** The samples of series by name and labels, in promtool's notation: `0+1x60` counts up for 60 intervals. */
export type Series = Record<string, string>;

/** The labels of one installation. */
export const prod = { namespace: 'prod', cluster: 'eu' };
export const staging = { namespace: 'staging', cluster: 'us' };

/** The same series with the labels of an installation, as its Prometheus adds them. */
export function within(labels: Record<string, string>, series: Series): Series {
  const added = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return Object.fromEntries(
    Object.entries(series).map(([each, values]) => {
      const [, name = '', own = ''] = /^([^{]+)(?:\{(.*)\})?$/.exec(each) ?? [];
      return [`${name}{${[...added, own].filter(Boolean).join(',')}}`, values];
    }),
  );
}

interface RuleTest {
  name: string;
  interval: string;
  series: Series;
  /** The samples that each expression must return at a time, by their labels. */
  expected: { at: string; expression: string; samples: { labels: string; value: number }[] }[];
}

/** Runs promtool. */
export function promtool(program: string, ...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 400_000 });
  return { status, output: stdout + stderr };
}

/** Evaluates the committed rules on the series of each test, in promtool's own test format. */
export function testRules(program: string, tests: readonly RuleTest[], evaluatedEvery = '1m') {
  const folder = temporaryFolder('rules');
  const file = path.join(folder, 'test.json');
  const text = {
    rule_files: [pathOf('monitoring/rules.yaml')],
    evaluation_interval: evaluatedEvery,
    tests: tests.map(({ name, interval, series, expected }) => ({
      name,
      interval,
      input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
      promql_expr_test: expected.map(({ at, expression, samples }) => ({
        expr: expression,
        eval_time: at,
        exp_samples: samples,
      })),
    })),
  };
  writeFileSync(file, JSON.stringify(text));
  const result = promtool(program, 'test', 'rules', file);
  rmSync(folder, { recursive: true });
  return result;
}
