import { describe, expect, it } from '@jest/globals';
import { metricsOf, ofChosenEnvironment, perEnvironment } from '../../monitoring/src/scope.js';
import { filesBelow, textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { foreignService } from '../harness/foreign-service.js';
import { prod, type Series, staging, testRules, within } from './promtool.js';

const { describeWith, tools } = await withTools('promtool');

describe('an expression of a rule', () => {
  it.each([
    ['sum(rate(router_a[5m]))', 'sum by (namespace, cluster) (rate(router_a[5m]))'],
    ['max by (app) (router_a) > 1', 'max by (namespace, cluster, app) (router_a) > 1'],
    [
      'router_a{sum="max(x) by (y)"} unless on (queue) router_b',
      'router_a{sum="max(x) by (y)"} unless on (namespace, cluster, queue) router_b',
    ],
    [
      'redis_used / (redis_max > 0)',
      '(redis_used / (redis_max > 0)) and on (namespace, cluster) count by (namespace, cluster) (router_build_info)',
    ],
  ])('keeps the installation: %s', (written, scoped) => expect(perEnvironment(written)).toBe(scoped));

  it('does not drop labels by name, which would hide whether it keeps these', () =>
    expect(() => perEnvironment('sum without (instance) (router_a)')).toThrow('use by instead'));
});

describe('an expression of a panel', () => {
  it.each([
    ['sum(rate(router_a[5m]))', 'sum(rate(router_a{namespace="$namespace",cluster="$cluster"}[5m]))'],
    ['router_a{x="{}"} > 1', 'router_a{namespace="$namespace",cluster="$cluster",x="{}"} > 1'],
  ])('selects the installation: %s', (written, scoped) => expect(ofChosenEnvironment(written)).toBe(scoped));

  it('selects no metric of another service', () =>
    expect(() => ofChosenEnvironment('rate(process_cpu_seconds_total[5m])')).toThrow('process_cpu'));
});

interface Panel {
  targets?: { expr?: string }[];
  panels?: Panel[];
}
interface Dashboard {
  panels: Panel[];
  templating: { list: { name: string; query?: string }[] };
  annotations: { list: { expr?: string }[] };
}
const committed = filesBelow('monitoring/dashboards').map((file) => ({
  file,
  dashboard: JSON.parse(textOf(file)) as Dashboard,
}));
const expressionsOf = (panel: Panel): string[] => [
  ...(panel.targets ?? []).flatMap(({ expr }) => expr ?? []),
  ...(panel.panels ?? []).flatMap(expressionsOf),
];

describe('the committed dashboards', () => {
  it.each(committed)('show one chosen installation: $file', ({ dashboard }) => {
    const names = dashboard.templating.list.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['cluster', 'namespace']));
    const expressions = [
      ...dashboard.panels.flatMap(expressionsOf),
      ...dashboard.annotations.list.flatMap(({ expr }) => expr ?? []),
    ];
    expect(expressions.length).toBeGreaterThan(0);
    for (const expression of expressions) {
      const metrics = metricsOf(expression);
      expect(metrics.length).toBeGreaterThan(0);
      expect(metrics.filter((name) => !/^router[_:]/.test(name))).toEqual([]);
      const scoped = expression.match(/\{namespace="\$namespace",cluster="\$cluster"/g) ?? [];
      expect({ expression, scoped: scoped.length }).toEqual({ expression, scoped: metrics.length });
    }
  });
});

/** The planted service in promtool's notation; the real one is scraped by `npm run soak -- --alerts`. */
const troubled: Series = {
  ...Object.fromEntries(foreignService.map(({ series, start, grows }) => [series, `${start}+${grows}x240`])),
  'up{app="gateway",instance="a"}': '0x240',
};
/** An installation with nothing to report. */
const healthy: Series = {
  'router_build_info{app="gateway"}': '1x240',
  'router_ready{app="gateway"}': '1x240',
  'router_ready{app="worker"}': '1x240',
  'router_http_server_request_duration_seconds_count{app="gateway",route="/v2/models/:provider/:model/requests",error_type=""}':
    '0+10x240',
  'router_http_server_request_duration_seconds_bucket{app="gateway",route="/v2/models/:provider/:model/requests",error_type="",le="0.3"}':
    '0+10x240',
};
const firing = 'count by (alertname, namespace) (ALERTS{alertstate="firing"})';
const hours = ['5m', '30m', '1h', '2h', '4h'];

describeWith('a Prometheus that serves other services too', () => {
  it('has no alert for an hour and more beside a foreign service in trouble', () => {
    const { status, output } = testRules(tools.promtool, [
      {
        name: 'a foreign service in trouble',
        interval: '1m',
        series: {
          ...within(prod, healthy),
          ...within(staging, healthy),
          ...within({ namespace: 'shop', cluster: 'eu' }, troubled),
          // Without any label of a place, as a Prometheus outside Kubernetes has it.
          ...troubled,
        },
        expected: hours.map((at) => ({ at, expression: firing, samples: [] })),
      },
    ]);
    expect(output).not.toContain('FAILED');
    expect(status).toBe(0);
  });

  it('would notice trouble of the same size in an installation of ours', () => {
    const ours = Object.fromEntries(
      Object.entries(troubled).map(([each, values]) => [
        each.replace(/^(http|nodejs)_/, 'router_$1_'),
        values,
      ]),
    );
    const alerts = [
      'RouterErrorBudgetBurnsFast',
      'RouterErrorBudgetBurnsSlowly',
      'RouterEventLoopBlocked',
      'RouterGatewaysAtMaximum',
      'RouterLatencyBudgetBurnsFast',
      'RouterLatencyBudgetBurnsSlowly',
      'RouterRedisFills',
      'RouterWorkersAtMaximum',
    ];
    const { status, output } = testRules(tools.promtool, [
      {
        name: 'an installation in trouble',
        interval: '1m',
        series: { ...within(prod, { ...healthy, ...ours }), ...within(staging, healthy) },
        expected: [
          {
            at: '2h',
            expression: firing,
            samples: alerts.map((name) => ({ labels: `{alertname="${name}", namespace="prod"}`, value: 1 })),
          },
        ],
      },
    ]);
    expect(output).not.toContain('FAILED');
    expect(status).toBe(0);
  });

  it('counts the calls of each installation by itself', () => {
    const { status, output } = testRules(tools.promtool, [
      {
        name: 'two installations',
        interval: '1m',
        series: { ...within(prod, healthy), ...within(staging, healthy) },
        expected: [
          {
            at: '1h',
            expression: 'round(60 * router:calls:rate5m)',
            samples: [prod, staging].map(({ namespace, cluster }) => ({
              labels: `{namespace="${namespace}", cluster="${cluster}"}`,
              value: 10,
            })),
          },
        ],
      },
    ]);
    expect(output).not.toContain('FAILED');
    expect(status).toBe(0);
  });
});
