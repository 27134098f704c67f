import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { alerts } from '../../monitoring/src/alerts.js';
import { pathOf, textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { temporaryFolder } from '../harness/index.js';
import { alertCases } from './alert-cases.js';

const { describeWith, tools } = await withTools('promtool');
const names = alerts.map(({ name }) => name);

function promtool(...words: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(tools.promtool, words, { encoding: 'utf8', timeout: 180_000 });
  return { status, said: stdout + stderr };
}

/** The number of firing alerts of that name which have these labels, whatever their values. */
const firing = (name: string, labels: readonly string[] = []) =>
  `count(ALERTS{alertname="${name}",alertstate="firing"${labels.map((label) => `,${label}!=""`).join('')}}) or vector(0)`;
/** The labels that a summary mentions. */
const toldBy = (summary: string) => [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);

/** promtool's own test file: evaluates each alert once on its firing case and once on its quiet one. */
function testFile(): object {
  const tests = alerts.flatMap(({ name, summary }) => {
    const { at, fires, rests } = alertCases[name] ?? { at: '0m', fires: {}, rests: {} };
    return [fires, rests].map((series, index) => ({
      name: `${name} ${index === 0 ? 'fires' : 'rests'}`,
      interval: '1m',
      input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
      promql_expr_test: [
        {
          expr: index === 0 ? firing(name, toldBy(summary)) : firing(name),
          eval_time: at,
          exp_samples: [{ labels: '{}', value: index === 0 ? 1 : 0 }],
        },
      ],
    }));
  });
  return { rule_files: [pathOf('monitoring/rules.yaml')], evaluation_interval: '1m', tests };
}

describe('monitoring', () => {
  it('has committed the output of its sources', () => {
    const { status, stderr } = spawnSync(process.execPath, [pathOf('scripts/monitoring.mjs'), '--check'], {
      encoding: 'utf8',
      timeout: 180_000,
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it('has a firing and a quiet case for each alert', () => expect(Object.keys(alertCases)).toEqual(names));

  it('has a runbook section for each alert, with its urgency and what to do', () => {
    const sections = textOf('docs/operations/alerts.md').split(/^## /m).slice(1);
    const told = sections.map((section) => {
      const [name = '', , urgency = ''] = section.split('\n');
      return {
        name,
        severity: /^(Page|Ticket)\./.exec(urgency)?.[1]?.toLowerCase(),
        steps: /^- /m.test(section),
      };
    });
    expect(told).toEqual(alerts.map(({ name, severity }) => ({ name, severity, steps: true })));
  });

  it('links each alert to its section', () => {
    const links = [...textOf('monitoring/rules.yaml').matchAll(/runbook_url: (.+)$/gm)].map(
      ([, link]) => link,
    );
    expect(links).toEqual(names.map((name) => `docs/operations/alerts.md#${name.toLowerCase()}`));
  });
});

describeWith('the alerts, checked by Prometheus’ own tool', () => {
  it('are valid', () => {
    const { status, said } = promtool('check', 'rules', pathOf('monitoring/rules.yaml'));
    expect(said).toContain(`${alerts.length} rules found`);
    expect(status).toBe(0);
  });

  it('fire when they should, and only then', () => {
    const folder = temporaryFolder('alerts');
    const file = path.join(folder, 'test.json');
    writeFileSync(file, JSON.stringify(testFile()));
    const { status, said } = promtool('test', 'rules', file);
    rmSync(folder, { recursive: true });
    expect(said).not.toContain('FAILED');
    expect(status).toBe(0);
  });
});
