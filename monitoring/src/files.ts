import { stringify } from 'yaml';
import type { Alert } from './alert.js';
import { alerts } from './alerts.js';
import { assets } from './dashboards/assets.js';
import { callers } from './dashboards/callers.js';
import { infrastructure } from './dashboards/infrastructure.js';
import { money } from './dashboards/money.js';
import { objectives } from './dashboards/objectives.js';
import { overview } from './dashboards/overview.js';
import { providers } from './dashboards/providers.js';
import { queues } from './dashboards/queues.js';
import { registry } from './dashboards/registry.js';
import { inhibitRules } from './inhibitions.js';
import { build } from './panel.js';
import { recordings } from './recordings.js';
import { perEnvironment } from './scope.js';

export const dashboards = {
  overview,
  objectives,
  callers,
  queues,
  providers,
  assets,
  money,
  registry,
  infrastructure,
};

/** Addresses that the outputs link to. Without one there is no link, because a relative link leads nowhere. */
interface Addresses {
  /** The URL at which docs/operations/alerts.md is published. */
  runbooks?: string | undefined;
  /** The URL of Grafana. */
  grafana?: string | undefined;
}

function annotationsOf({ name, summary, dashboard }: Alert, { runbooks, grafana }: Addresses) {
  return {
    summary,
    // The chart makes the links from this name.
    dashboard,
    ...(runbooks && { runbook_url: `${runbooks}#${name.toLowerCase()}` }),
    ...(grafana && {
      dashboard_url: `${grafana}/d/${dashboards[dashboard].uid}?var-cluster={{ $labels.cluster }}&var-namespace={{ $labels.namespace }}`,
    }),
  };
}

const rulesWith = (addresses: Addresses) => ({
  groups: [
    {
      name: 'model-router-objectives',
      interval: '1m',
      rules: Object.entries(recordings).map(([record, expression]) => ({
        record,
        expr: perEnvironment(expression),
      })),
    },
    {
      name: 'model-router',
      rules: alerts.map((alert) => ({
        alert: alert.name,
        expr: perEnvironment(alert.expression),
        for: alert.holds,
        labels: { severity: alert.severity },
        annotations: annotationsOf(alert, addresses),
      })),
    },
  ],
});

const note = '# Written by `npm run monitoring` from monitoring/src.\n';
const yaml = (value: object): string => `${note}${stringify(value, { lineWidth: 0 })}`;

/** The generated files: their unformatted texts by path in the checkout. The committed ones have no addresses. */
export function monitoringFiles(addresses: Addresses = {}): ReadonlyMap<string, string> {
  for (const [name, address] of Object.entries(addresses)) {
    if (address === undefined || /^https?:\/\/\S*[^\s/]$/.test(address)) continue;
    throw new Error(`${name}: expected an absolute URL without a slash at its end, not ${address}`);
  }
  const rules = rulesWith(addresses);
  const prometheusRule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'model-router' },
    spec: rules,
  };
  return new Map([
    ['monitoring/rules.yaml', yaml(rules)],
    ['monitoring/prometheus-rule.yaml', yaml(prometheusRule)],
    ['monitoring/alertmanager.yaml', yaml({ inhibit_rules: inhibitRules })],
    ...Object.entries(dashboards).map(
      ([name, dashboard]) =>
        [
          `monitoring/dashboards/${name}.json`,
          JSON.stringify(build(dashboard, addresses.runbooks).build(), null, 2),
        ] as const,
    ),
  ]);
}
