import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { Metrics } from '#observability';
import { parse } from 'yaml';
import { alerts } from '../../monitoring/src/alerts.js';
import { dashboards, monitoringFiles } from '../../monitoring/src/files.js';
import { inhibitions } from '../../monitoring/src/inhibitions.js';
import { recordings } from '../../monitoring/src/recordings.js';
import { filesBelow, pathOf, textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { alertCases } from './alert-cases.js';
import { prod, promtool, staging, testRules, within } from './promtool.js';

const { describeWith, tools } = await withTools('promtool');
const names = alerts.map(({ name }) => name);

/** The firing alerts of that name which have these labels, whatever their values, by installation. */
const firing = (name: string, labels: readonly string[] = []) =>
  `count by (namespace, cluster) (ALERTS{alertname="${name}",alertstate="firing"${labels.map((label) => `,${label}!=""`).join('')}})`;
/** The labels that a summary mentions. */
const mentionedIn = (summary: string) =>
  [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);

interface Rule {
  alert?: string;
  annotations?: Record<string, string>;
}
const rulesIn = (text: string): Rule[] =>
  (parse(text) as { groups: { rules: Rule[] }[] }).groups
    .flatMap(({ rules }) => rules)
    .filter(({ alert }) => alert !== undefined);

describe('monitoring', () => {
  it('has committed the output of its sources', () => {
    const { status, stderr } = spawnSync(process.execPath, [pathOf('scripts/monitoring.mjs'), '--check'], {
      encoding: 'utf8',
      timeout: 180_000,
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  it('selects only buckets that its histograms have', () => {
    const metrics = new Metrics().registry.getMetricsAsArray();
    const bounds = new Map(
      metrics.flatMap((metric): [string, number[]][] =>
        'upperBounds' in metric ? [[`${metric.name}_bucket`, metric.upperBounds as number[]]] : [],
      ),
    );
    const files = ['monitoring/rules.yaml', ...filesBelow('monitoring/dashboards')].map(textOf).join('\n');
    const selected = [...files.matchAll(/\b(router_\w+_bucket)\{[^}]*?le=\\?"([\d.]+)/g)];
    expect(selected.length).toBeGreaterThan(0);
    for (const [, name = '', bound] of selected) expect(bounds.get(name)).toContain(Number(bound));
  });

  it('has a firing and a quiet case for each alert', () => expect(Object.keys(alertCases)).toEqual(names));

  it('has a runbook section for each alert, with its urgency and what to do', () => {
    const sections = textOf('docs/operations/alerts.md')
      .split(/^## /m)
      .slice(1)
      .filter((section) => section.startsWith('Router'));
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

  it('silences only alerts that exist, and none by itself', () => {
    for (const { while: source, silent } of inhibitions) {
      expect(names).toEqual(expect.arrayContaining([source, ...silent]));
      expect(silent).not.toContain(source);
    }
  });

  it('links alerts only to absolute addresses', () => {
    const committed = rulesIn(textOf('monitoring/rules.yaml'));
    expect(committed.map(({ annotations }) => Object.keys(annotations ?? {}))).toEqual(
      names.map(() => ['summary', 'dashboard']),
    );
    const addresses = { runbooks: 'https://docs.example.com/alerts', grafana: 'https://grafana.example.com' };
    const files = monitoringFiles(addresses);
    const { namespace, cluster } = { namespace: '{{ $labels.namespace }}', cluster: '{{ $labels.cluster }}' };
    expect(rulesIn(files.get('monitoring/rules.yaml') ?? '').map(({ annotations }) => annotations)).toEqual(
      alerts.map(({ name, summary, dashboard }) => ({
        summary,
        dashboard,
        runbook_url: `${addresses.runbooks}#${name.toLowerCase()}`,
        dashboard_url: `${addresses.grafana}/d/${dashboards[dashboard].uid}?var-cluster=${cluster}&var-namespace=${namespace}`,
      })),
    );
    expect(files.get('monitoring/dashboards/queues.json')).toContain(`"url": "${addresses.runbooks}"`);
    expect(textOf('monitoring/dashboards/queues.json')).not.toContain('Runbook');
    expect(() => monitoringFiles({ runbooks: 'docs/operations/alerts.md' })).toThrow(
      'runbooks: expected an absolute URL',
    );
  });
});

describeWith('the alerts, checked by Prometheus’ own tool', () => {
  it('are valid', () => {
    const { status, output } = promtool(tools.promtool, 'check', 'rules', pathOf('monitoring/rules.yaml'));
    expect(output).toContain(`${alerts.length + Object.keys(recordings).length} rules found`);
    expect(status).toBe(0);
  });

  it('fire when they should, only then, and only for their own installation', () => {
    const tests = alerts.flatMap(({ name, summary }) => {
      const { at, fires, rests } = alertCases[name] ?? { at: '0m', fires: {}, rests: {} };
      // Together they would exceed every threshold that one of them nearly reaches.
      const quiet = ['a', 'b', 'c', 'd', 'e', 'f'].map((namespace) =>
        within({ ...staging, namespace }, rests),
      );
      return [
        {
          name: `${name} fires beside an installation that rests`,
          interval: '1m',
          series: { ...within(prod, fires), ...within(staging, rests) },
          expected: [
            {
              at,
              expression: firing(name, mentionedIn(summary)),
              samples: [{ labels: '{namespace="prod", cluster="eu"}', value: 1 }],
            },
          ],
        },
        {
          name: `${name} rests in six installations`,
          interval: '1m',
          series: Object.assign({}, ...quiet) as Record<string, string>,
          expected: [{ at, expression: firing(name), samples: [] }],
        },
      ];
    });
    const { status, output } = testRules(tools.promtool, tests);
    expect(output).not.toContain('FAILED');
    expect(status).toBe(0);
  });
});
