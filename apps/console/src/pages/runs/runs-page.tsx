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
import { ExportRuns } from './export-runs.tsx';
import { isFiltered, noFilters, runQueryOf, useRunFilters } from './run-filters.ts';
import { matchingRuns } from './matching-runs.ts';
import { Selection } from './selection.tsx';
import { RunTable } from './run-table.tsx';
import type { RunsSearch } from './search.ts';
import { type Run, useRuns } from './use-runs.ts';

export function RunsPage() {
  const [filters, change] = useRunFilters();
  // Fixed when the page opens: with a moving range, the query would change every minute.
  const [openedMs] = useState(() => Date.now());
  const query = runQueryOf(filters, openedMs);
  const { runs, isPending, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useRuns(query);
  const [selected, setSelected] = useState<ReadonlyMap<string, Run>>(new Map());
  // A selected run stays selected while a filter hides it; a shown one has its newest state.
  const shown = new Map(runs.map((run) => [run.request_id, run]));
  const selectedRuns = [...selected.values()].map((run) => shown.get(run.request_id) ?? run);
  const clear = () => change(noFilters);
  return (
    <>
      <PageTitle title={texts.runs.title} detail={texts.runs.about}>
        {runs.length > 0 && (
          <ExportRuns label={texts.runs.exportAll} read={(signal) => matchingRuns(query, signal)} />
        )}
      </PageTitle>
      {selectedRuns.length > 0 && <Selection runs={selectedRuns} clear={() => setSelected(new Map())} />}
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
          select={(changed, isSelected) => setSelected((now) => withSelection(now, changed, isSelected))}
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

/** Bounds what one bulk action does. */
const maxSelected = 500;

function withSelection(
  now: ReadonlyMap<string, Run>,
  changed: readonly Run[],
  isSelected: boolean,
): ReadonlyMap<string, Run> {
  const next = new Map(now);
  for (const run of changed) {
    if (!isSelected) next.delete(run.request_id);
    else if (next.size < maxSelected) next.set(run.request_id, run);
  }
  return next;
}

/** Explains a bad filter in plain words, because the service's message names a parameter and a pattern. */
const badFilter = ({ id, model }: RunsSearch) =>
  id !== undefined
    ? texts.runs.badId(id)
    : model !== undefined && !/^[^/]+\/[^/]+$/.test(model)
      ? texts.runs.badModel(model)
      : texts.runs.badFilterText;
