import { stringify } from 'yaml';
import { alerts, runbooks } from './alerts.js';
import { assets } from './dashboards/assets.js';
import { callers } from './dashboards/callers.js';
import { infrastructure } from './dashboards/infrastructure.js';
import { money } from './dashboards/money.js';
import { objectives } from './dashboards/objectives.js';
import { overview } from './dashboards/overview.js';
import { providers } from './dashboards/providers.js';
import { queues } from './dashboards/queues.js';
import { registry } from './dashboards/registry.js';
import { build } from './panel.js';

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

const rules = {
  groups: [
    {
      name: 'model-router',
      rules: alerts.map(({ name, expression, holds, severity, summary }) => ({
        alert: name,
        expr: expression,
        for: holds,
        labels: { severity },
        annotations: { summary, runbook_url: `${runbooks}#${name.toLowerCase()}` },
      })),
    },
  ],
};

const prometheusRule = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name: 'model-router' },
  spec: rules,
};

const note = '# Written by `npm run monitoring` from monitoring/src.\n';
const yaml = (value: object): string => `${note}${stringify(value, { lineWidth: 0 })}`;

/** The generated files that are committed: their unformatted texts by path in the checkout. */
export const monitoringFiles: ReadonlyMap<string, string> = new Map([
  ['monitoring/rules.yaml', yaml(rules)],
  ['monitoring/prometheus-rule.yaml', yaml(prometheusRule)],
  ...Object.entries(dashboards).map(
    ([name, dashboard]) =>
      [`monitoring/dashboards/${name}.json`, JSON.stringify(build(dashboard).build(), null, 2)] as const,
  ),
]);
