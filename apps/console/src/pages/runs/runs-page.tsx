import { Button } from '@mantine/core';
import { useState } from 'react';
import { Problem } from '../../api/problem.ts';
import { Command } from '../../parts/command.tsx';
import { Empty } from '../../parts/empty.tsx';
import { exampleCommand } from '../../parts/example-command.ts';
import { Failure } from '../../parts/failure.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { texts } from '../../texts/index.ts';
import { FilterBar } from './filter-bar.tsx';
import { isFiltered, runQueryOf, useRunFilters } from './run-filters.ts';
import { Selection } from './selection.tsx';
import { RunTable } from './run-table.tsx';
import type { RunsSearch } from './search.ts';
import { useRuns } from './use-runs.ts';

export function RunsPage() {
  const [filters, change] = useRunFilters();
  // Fixed when the page opens: with a moving range, the query would change every minute.
  const [openedMs] = useState(() => Date.now());
  const { runs, isPending, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useRuns(
    runQueryOf(filters, openedMs),
  );
  const [selected, setSelected] = useState<readonly string[]>([]);
  const clear = () =>
    change({ state: undefined, error: undefined, model: undefined, key: undefined, range: undefined });
  return (
    <>
      <PageTitle title={texts.runs.title} detail={texts.runs.about} />
      {selected.length > 0 && <Selection selected={selected} clear={() => setSelected([])} />}
      <FilterBar filters={filters} change={change} clear={clear} />
      {error instanceof Problem && error.status === 400 && isFiltered(filters) ? (
        <Empty title={texts.runs.badFilter} detail={badFilter(filters)}>
          <Button variant="default" size="xs" onClick={clear}>
            {texts.runs.clear}
          </Button>
        </Empty>
      ) : error && runs.length === 0 ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : isPending ? (
        <TableSkeleton rows={12} />
      ) : runs.length > 0 ? (
        <RunTable
          runs={runs}
          selected={selected}
          select={(requestId, isSelected) =>
            setSelected((now) => [
              ...now.filter((each) => each !== requestId),
              ...(isSelected ? [requestId] : []),
            ])
          }
          isMore={hasNextPage}
          readMore={() => {
            if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
          }}
        />
      ) : isFiltered(filters) ? (
        <Empty title={texts.runs.noMatch} detail={texts.runs.noMatchText}>
          <Button variant="default" size="xs" onClick={clear}>
            {texts.runs.clear}
          </Button>
        </Empty>
      ) : (
        <Empty title={texts.runs.empty} detail={texts.runs.emptyText}>
          <Command text={exampleCommand()} label={texts.runs.copyCommand} />
        </Empty>
      )}
    </>
  );
}

/** Explains a bad filter in plain words, because the service's message names a parameter and a pattern. */
const badFilter = ({ model }: RunsSearch) =>
  model !== undefined && !/^[^/]+\/[^/]+$/.test(model)
    ? texts.runs.badModel(model)
    : texts.runs.badFilterText;
