import { describe, expect, it } from '@jest/globals';
import { filesBelow, textOf } from '../documents/checkout-files.js';
import { literalErrors } from './rendered.js';

/**
 * Types from the package that Grafana generates from its own schema; parts that it leaves open are closed here by
 * kind of panel.
 */
const types = `
import type * as sdk from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import type * as common from '@grafana/grafana-foundation-sdk/common';
import type * as stat from '@grafana/grafana-foundation-sdk/stat';
import type * as table from '@grafana/grafana-foundation-sdk/table';
import type * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

/** As in JSON: an enumeration's value and not its member. */
type Plain<T> = T extends string ? \`\${T}\`
  : T extends number | boolean | null | undefined ? T
  : T extends readonly (infer Each)[] ? Plain<Each>[]
  : { [Key in keyof T]: Plain<T[Key]> };
interface Sql {
  refId: string; datasource: common.DataSourceRef;
  format: 'table'; rawQuery: true; editorMode: 'code'; rawSql: string;
}
type Target = Plain<Omit<Dataquery, '_implementsDataqueryVariant'>> | Sql;
type PanelOf<Type, Options, Custom> = Plain<Omit<sdk.Panel, 'type' | 'targets' | 'options' | 'fieldConfig'>> & {
  type: Type; title: string; description: string; targets: Target[]; options?: Plain<Options>;
  fieldConfig: {
    defaults: Plain<Omit<sdk.FieldConfig, 'custom'>> & { custom?: Plain<Custom> };
    overrides: Plain<sdk.FieldConfigSource['overrides']>;
  };
};
type Panel = PanelOf<'timeseries', timeseries.Options, timeseries.FieldConfig>
  | PanelOf<'stat', stat.Options, never>
  | PanelOf<'table', table.Options, table.FieldConfig>;
type Row = Plain<Omit<sdk.RowPanel, 'panels'>> & { panels: Panel[] };
type Dashboard = Plain<Omit<sdk.Dashboard, 'panels'>> & { uid: string; title: string; panels: (Panel | Row)[] };
`;

const dashboards = filesBelow('monitoring/dashboards').map((file) => JSON.parse(textOf(file)) as object);
const errors = (values: readonly object[]) =>
  literalErrors(
    values.map((value) => ({ type: 'Dashboard', value })),
    types,
  );

describe('the committed dashboards', () => {
  it('match the types that Grafana generates from its schema', () => {
    expect(dashboards.length).toBeGreaterThan(8);
    expect(errors(dashboards)).toBe('');
  });

  it.each([
    ['a field that Grafana does not know', { titel: 'Calls' }, '"titel"'],
    ['an unknown kind of panel', { type: 'timeserie' }, '"timeserie"'],
    ['a wrong type', { description: 7 }, "'number' is not assignable to type 'string'"],
    [
      'a member that its enumeration lacks',
      { fieldConfig: { defaults: { custom: { fillBelow: 1, drawStyle: 'dots' } } } },
      '"dots"',
    ],
  ])('would be rejected for %s', (_what, wrong, said) => {
    const [first] = dashboards as { panels: { type: string }[] }[];
    const panels = first?.panels.map((panel) =>
      panel.type === 'timeseries' ? { ...panel, ...wrong } : panel,
    );
    expect(errors([{ ...first, panels }])).toContain(said);
  });
});
