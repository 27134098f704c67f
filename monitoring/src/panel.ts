import {
  type DashboardBuilder,
  DashboardBuilder as Builder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import {
  LegendDisplayMode,
  LegendPlacement,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** A query in PromQL and what its lines are called, `{{label}}` for each one's value. */
type Query = readonly [expression: string, legend: string];

interface Panel {
  title: string;
  /** What a reader should make of it. */
  says: string;
  unit: 'short' | 's' | 'reqps' | 'percentunit' | 'bytes' | 'currencyUSD' | 'ops';
  queries: readonly Query[];
}

interface Row {
  title: string;
  panels: readonly Panel[];
}

export interface Dashboard {
  uid: string;
  title: string;
  rows: readonly Row[];
  /** With it each row is repeated for every provider that is called, as `$provider`. */
  repeatedByProvider?: true;
}

const source = { type: 'prometheus', uid: '${datasource}' };
const refIds = 'ABCDEFGH';
/** Of Grafana's 24 columns: three panels a line. */
const [width, height] = [8, 7];

export function build(dashboard: Dashboard): DashboardBuilder {
  const builder = new Builder(dashboard.title)
    .uid(dashboard.uid)
    .tags(['model-router'])
    .readonly()
    .refresh('30s')
    .time({ from: 'now-6h', to: 'now' })
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  if (dashboard.repeatedByProvider) builder.withVariable(providers());
  for (const { title, panels } of dashboard.rows) {
    const row = new RowBuilder(title);
    if (dashboard.repeatedByProvider) row.repeat('provider');
    builder.withRow(row);
    for (const panel of panels) builder.withPanel(timeSeries(panel));
  }
  return builder;
}

function providers(): QueryVariableBuilder {
  return new QueryVariableBuilder('provider')
    .label('Provider')
    .datasource(source)
    .query('label_values(router_provider_request_duration_seconds_count, provider)')
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true)
    .includeAll(true);
}

function timeSeries({ title, says, unit, queries }: Panel): PanelBuilder {
  const panel = new PanelBuilder()
    .title(title)
    .description(says)
    .unit(unit)
    .min(0)
    .span(width)
    .height(height)
    .fillOpacity(8)
    .datasource(source)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    );
  queries.forEach(([expression, legend], index) => {
    panel.withTarget(
      new DataqueryBuilder().expr(expression).legendFormat(legend).refId(refIds.charAt(index)),
    );
  });
  return panel;
}

/** The median and the slow end of a histogram, by some of its labels. */
export function quantiles(metric: string, by: readonly string[] = [], filter = ''): readonly Query[] {
  const legend = by.map((label) => `{{${label}}}`).join(' ');
  return ([0.5, 0.99] as const).map((quantile) => [
    `histogram_quantile(${quantile}, sum by (${[...by, 'le'].join(', ')}) (rate(${metric}_bucket${filter}[$__rate_interval])))`,
    `${legend} p${quantile * 100}`.trim(),
  ]);
}

/** How often a second, by some labels. */
export const rate = (metric: string, by: readonly string[], filter = ''): Query => [
  `sum by (${by.join(', ')}) (rate(${metric}${filter}[$__rate_interval]))`,
  by.map((label) => `{{${label}}}`).join(' '),
];
