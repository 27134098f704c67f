import { Button, Group, SegmentedControl, Skeleton, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useMemo, useState } from 'react';
import { budgetsQuery } from '../../api/budgets.ts';
import { newestKeysQuery } from '../../api/keys.ts';
import { useScope } from '../../api/workspace.ts';
import { Command } from '../../parts/command.tsx';
import { Empty } from '../../parts/empty.tsx';
import { exampleCommand } from '../../parts/example-command.ts';
import { Failure } from '../../parts/failure.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts/index.ts';
import { isDimension, ranges, type UsageDimension } from './search.ts';
import { UsageChart } from './usage-chart.tsx';
import { csvOf } from './usage-csv.ts';
import { useUsage, useUsageBefore, useUsageBy } from './usage-data.ts';
import { daysOf, periodBefore, useUsageSearch } from './usage-range.ts';
import { type Measure, sums } from './usage-sums.ts';
import { UsageTable } from './usage-table.tsx';
import { UsageTotals } from './usage-totals.tsx';
import classes from './usage-page.module.css';

const rangeOptions = ranges.map((value) => ({ value, label: texts.usage.ranges[value] }));

export function UsagePage() {
  const [search, change] = useUsageSearch();
  const [openedMs] = useState(() => Date.now());
  const days = daysOf(search, openedMs);
  const { data, error, refetch, isPlaceholderData } = useUsage(days);
  const keyList = useQuery(newestKeysQuery).data?.data;
  const keyNames = useMemo(() => new Map(keyList?.map(({ id, name }) => [id, name])), [keyList]);
  const measure: Measure = search.show === 'runs' ? 'runs' : 'cost_cents';
  const by = search.by ?? 'model';
  const rows = data?.data ?? [];
  const period = periodBefore(days, openedMs);
  const ofPeriod = useUsageBefore(period).data;
  // The numbers of the last range stay until those of the new one are there.
  const before = isPlaceholderData ? undefined : ofPeriod;
  const budgets = useQuery({ ...budgetsQuery, enabled: useScope('manage') === true }).data?.data;
  const dimension = isDimension(by) ? by : undefined;
  const byDimension = useUsageBy(dimension, days);
  const nameOf = {
    model: ({ model = '' }) => model,
    day: ({ day = '' }) => day,
    key: ({ key_id }: { key_id?: string }) =>
      key_id === undefined ? texts.usage.token : (keyNames.get(key_id) ?? key_id),
  };
  return (
    <>
      <PageTitle title={texts.usage.title} detail={texts.usage.about}>
        <Button
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          disabled={rows.length === 0}
          onClick={() => save(csvOf(rows, keyNames), `usage-${days.from}-${days.to}.csv`)}
        >
          {texts.usage.export}
        </Button>
      </PageTitle>
      <div className={classes.pickers}>
        <SegmentedControl
          aria-label={texts.usage.range}
          data={rangeOptions}
          value={search.from === undefined ? (search.range ?? '30d') : ''}
          onChange={(value) =>
            change({ range: ranges.find((name) => name === value), from: undefined, to: undefined })
          }
        />
        <Group gap={8} wrap="nowrap">
          <Day
            label={texts.usage.from}
            value={days.from}
            onChange={(from) => change({ from, to: days.to })}
          />
          <span aria-hidden className="dimmed">
            –
          </span>
          <Day label={texts.usage.to} value={days.to} onChange={(to) => change({ from: days.from, to })} />
        </Group>
        <SegmentedControl
          className={classes.measure}
          aria-label={texts.usage.measure}
          data={[
            { value: 'cost_cents', label: texts.usage.cost },
            { value: 'runs', label: texts.usage.runs },
          ]}
          value={measure}
          onChange={(show) => change({ show: show === 'runs' ? 'runs' : undefined })}
        />
      </div>
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton height={380} />
      ) : rows.length === 0 ? (
        <Empty title={texts.usage.empty} detail={texts.usage.emptyText}>
          <Command text={exampleCommand()} label={texts.runs.copyCommand} />
        </Empty>
      ) : (
        <div aria-busy={isPlaceholderData}>
          <UsageTotals total={data.total} before={before?.total} />
          <UsageChart
            rows={rows}
            days={days}
            measure={measure}
            before={before && period && { rows: before.data, from: period.from }}
            budgets={budgets ?? []}
          />
          <div className={classes.tableHead}>
            <h2>{texts.usage.table}</h2>
            <Group gap={8}>
              <TagGrouping key={by} by={by} change={(next) => change({ by: next })} />
              <SegmentedControl
                size="xs"
                aria-label={texts.usage.by}
                data={(['model', 'key', 'day', 'user'] as const).map((value) => ({
                  value,
                  label: texts.usage.bys[value],
                }))}
                value={by}
                onChange={(value) => change({ by: value === 'model' ? undefined : value })}
              />
            </Group>
          </div>
          {isDimension(by) ? (
            byDimension.error ? (
              <Failure error={byDimension.error} retry={() => void byDimension.refetch()} />
            ) : (
              <UsageTable
                sums={sums(byDimension.data?.data ?? [], valueOf(by))}
                heading={by === 'user' ? texts.usage.bys.user : by.slice('tag:'.length)}
                measure={measure}
              />
            )
          ) : (
            <UsageTable
              sums={by === 'day' ? sums(rows, nameOf.day).sort(newestFirst) : sums(rows, nameOf[by])}
              heading={texts.usage.bys[by]}
              measure={measure}
            />
          )}
        </div>
      )}
    </>
  );
}

const valueOf =
  (by: UsageDimension) =>
  ({ tags, user }: { tags?: Record<string, string>; user?: string }): string =>
    by === 'user' ? (user ?? texts.usage.noUser) : (Object.values(tags ?? {})[0] ?? texts.usage.noTag);

/** Groups by the tag whose name is typed, when the user leaves the field or presses Enter. */
function TagGrouping({ by, change }: { by: string; change: (by: UsageDimension) => void }) {
  const [name, setName] = useState(by.startsWith('tag:') ? by.slice('tag:'.length) : '');
  const apply = () => {
    const next = `tag:${name.trim()}`;
    if (next !== by && isDimension(next)) change(next);
  };
  return (
    <TextInput
      size="xs"
      aria-label={texts.usage.byTag}
      placeholder={texts.usage.tag}
      value={name}
      onChange={({ currentTarget }) => setName(currentTarget.value)}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply();
      }}
    />
  );
}

const newestFirst = (one: { name: string }, other: { name: string }) => (one.name < other.name ? 1 : -1);

/** Ignores incomplete dates: the browser reports an empty value while the user types. */
function Day({ label, value, onChange }: { label: string; value: string; onChange: (day: string) => void }) {
  return (
    <TextInput
      type="date"
      aria-label={label}
      value={value}
      max="9999-12-31"
      onChange={({ currentTarget }) => {
        if (currentTarget.value !== '') onChange(currentTarget.value);
      }}
      size="sm"
    />
  );
}

function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
