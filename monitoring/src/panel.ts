import {
  AnnotationQueryBuilder,
  type DashboardBuilder,
  DashboardBuilder as Builder,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import {
  LegendDisplayMode,
  LegendPlacement,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { environment, ofChosenEnvironment } from './scope.js';

/** A PromQL query and the legend of its lines, in which `{{label}}` stands for the value of a label. */
type Query = readonly [expression: string, legend: string];

interface Described {
  title: string;
  /** The panel's description: how to read it. */
  says: string;
  unit: 'short' | 's' | 'reqps' | 'percentunit' | 'bytes' | 'currencyUSD' | 'ops';
}

/** The value from which each colour is shown; null for the first. */
type Thresholds = readonly { from: number | null; color: string }[];

interface TimeSeries extends Described {
  kind?: 'timeseries';
  queries: readonly Query[];
}

interface Stat extends Described {
  kind: 'stat';
  queries: readonly Query[];
  thresholds: Thresholds;
}

/** Rows from the database. The thresholds colour the column `share failed`. */
interface Table extends Described {
  kind: 'table';
  sql: string;
  thresholds: Thresholds;
}

export type Panel = TimeSeries | Stat | Table;

interface Row {
  title: string;
  panels: readonly Panel[];
}

export interface Dashboard {
  uid: string;
  title: string;
  rows: readonly Row[];
  /** Repeats each row for every provider that is called, as `$provider`. */
  repeatedByProvider?: true;
  /** The dashboard has tables, which read the database. */
  usesDatabase?: true;
}

const database = { type: 'grafana-postgresql-datasource', uid: '${database}' };
const source = { type: 'prometheus', uid: '${datasource}' };
const refIds = 'ABCDEFGH';
/** In Grafana's grid of 24 columns: three panels a line. */
const [width, height] = [8, 7];

/** The dashboard, with a link to the runbook if its address is known. */
export function build(dashboard: Dashboard, runbooks?: string): DashboardBuilder {
  const builder = new Builder(dashboard.title)
    .uid(dashboard.uid)
    .tags(['model-router'])
    .readonly()
    .refresh('30s')
    .time({ from: 'now-6h', to: 'now' })
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  for (const [index] of environment.entries()) builder.withVariable(environmentVariable(index));
  for (const link of links(runbooks)) builder.link(link);
  builder.annotation(releases());
  if (dashboard.usesDatabase) {
    builder.withVariable(new DatasourceVariableBuilder('database').label('Database').type(database.type));
  }
  if (dashboard.repeatedByProvider) builder.withVariable(providers());
  for (const { title, panels } of dashboard.rows) {
    const row = new RowBuilder(title);
    if (dashboard.repeatedByProvider) row.repeat('provider');
    builder.withRow(row);
    for (const panel of panels) builder.withPanel(panelOf(panel));
  }
  return builder;
}

/**
 * A choice of one value. The second label offers only the values that it has together with the first. Without such a
 * label the value is empty, which selects the series that lack it.
 */
function environmentVariable(index: number): QueryVariableBuilder {
  const label = environment[index] ?? '';
  const before = environment.slice(0, index).map((each) => `${each}="$${each}"`);
  return new QueryVariableBuilder(label)
    .label(label.replace(/^./, (first) => first.toUpperCase()))
    .datasource(source)
    .query(`label_values(router_build_info{${before.join(',')}}, ${label})`)
    .refresh(VariableRefresh.OnTimeRangeChanged);
}

/** Links to the other dashboards, for the same time range, and to the runbook. */
const links = (runbooks: string | undefined): DashboardLinkBuilder[] => [
  new DashboardLinkBuilder('Model router')
    .type(DashboardLinkType.Dashboards)
    .tags(['model-router'])
    .asDropdown(true)
    .keepTime(true)
    .includeVars(true),
  ...(runbooks
    ? [new DashboardLinkBuilder('Runbook').type(DashboardLinkType.Link).url(runbooks).targetBlank(true)]
    : []),
];

/** Marks the time at which a new version started to run. */
const releases = (): AnnotationQueryBuilder =>
  new AnnotationQueryBuilder()
    .name('Releases')
    .datasource(source)
    .enable(true)
    .iconColor('blue')
    .expr(
      ofChosenEnvironment(
        'count by (version, revision) (router_build_info) unless count by (version, revision) (router_build_info offset 5m)',
      ),
    )
    .titleFormat('{{version}} {{revision}}');

function panelOf(panel: Panel) {
  switch (panel.kind) {
    case 'stat':
      return stat(panel);
    case 'table':
      return table(panel);
    case 'timeseries':
    case undefined:
      return timeSeries(panel);
  }
}

const coloured = (thresholds: Thresholds): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(thresholds.map(({ from, color }) => ({ value: from, color })));

function stat({ title, says, unit, queries, thresholds }: Stat): StatBuilder {
  const panel = new StatBuilder()
    .title(title)
    .description(says)
    .unit(unit)
    .decimals(3)
    .span(width)
    .height(height)
    .datasource(source)
    .thresholds(coloured(thresholds));
  for (const target of targets(queries)) panel.withTarget(target.instant());
  return panel;
}

function table({ title, says, sql, thresholds }: Table): TableBuilder {
  const target = {
    refId: 'A',
    datasource: database,
    format: 'table',
    rawQuery: true,
    editorMode: 'code',
    rawSql: sql,
  };
  return new TableBuilder()
    .title(title)
    .description(says)
    .span(24 / 2)
    .height(2 * height)
    .datasource(database)
    .overrideByName('share failed', [
      { id: 'unit', value: 'percentunit' },
      { id: 'custom.cellOptions', value: { type: 'color-background' } },
      { id: 'thresholds', value: coloured(thresholds).build() },
    ])
    .withTarget({ build: () => ({ ...target, _implementsDataqueryVariant: () => {} }) });
}

function providers(): QueryVariableBuilder {
  return new QueryVariableBuilder('provider')
    .label('Provider')
    .datasource(source)
    .query(`label_values(${ofChosenEnvironment('router_provider_request_duration_seconds_count')}, provider)`)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true)
    .includeAll(true);
}

function timeSeries({ title, says, unit, queries }: TimeSeries): PanelBuilder {
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
  for (const target of targets(queries)) panel.withTarget(target);
  return panel;
}

const targets = (queries: readonly Query[]): DataqueryBuilder[] =>
  queries.map(([expression, legend], index) =>
    new DataqueryBuilder()
      .expr(ofChosenEnvironment(expression))
      .legendFormat(legend)
      .refId(refIds.charAt(index)),
  );

/** The median and the 99th percentile of a histogram, by some of its labels. */
export function quantiles(metric: string, by: readonly string[] = [], filter = ''): readonly Query[] {
  const legend = by.map((label) => `{{${label}}}`).join(' ');
  return ([0.5, 0.99] as const).map((quantile) => [
    `histogram_quantile(${quantile}, sum by (${[...by, 'le'].join(', ')}) (rate(${metric}_bucket${filter}[$__rate_interval])))`,
    `${legend} p${quantile * 100}`.trim(),
  ]);
}

/** The rate per second of a counter, by some of its labels. */
export const rate = (metric: string, by: readonly string[], filter = ''): Query => [
  `sum by (${by.join(', ')}) (rate(${metric}${filter}[$__rate_interval]))`,
  by.map((label) => `{{${label}}}`).join(' '),
];
