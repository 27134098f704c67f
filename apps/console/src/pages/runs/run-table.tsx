import { Checkbox } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useModels } from '../../api/models.ts';
import { runPromptQuery } from '../../api/run.ts';
import { Moment } from '../../parts/moment.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { RunDuration } from '../../parts/run-duration.tsx';
import { RunThumb } from '../../parts/run-thumb.tsx';
import { Status } from '../../parts/status.tsx';
import { useWindowRows } from '../../parts/use-window-rows.ts';
import { texts } from '../../texts/index.ts';
import classes from './run-table.module.css';
import type { Run } from './use-runs.ts';

interface RunTableProps {
  runs: readonly Run[];
  selected: ReadonlyMap<string, Run>;
  select: (runs: readonly Run[], isSelected: boolean) => void;
  isMore: boolean;
  readMore: () => void;
}

/** Renders only the visible rows, so that 100,000 runs scroll as smoothly as a few. */
export function RunTable({ runs, selected, select, isMore, readMore }: RunTableProps) {
  const body = useRef<HTMLDivElement>(null);
  const rowHeight = useMediaQuery('(max-width: 640px)') ? 72 : 56;
  const { first, end } = useWindowRows(body, runs.length, rowHeight);
  const areAllSelected = runs.every(({ request_id }) => selected.has(request_id));
  const isEndNear = end >= runs.length - 20;
  useEffect(() => {
    if (isMore && isEndNear) readMore();
  });
  return (
    <>
      <div
        role="table"
        aria-label={texts.runs.title}
        aria-rowcount={isMore ? -1 : runs.length + 1}
        className={classes.table}
      >
        <div role="rowgroup" className={classes.head}>
          <div role="row" aria-rowindex={1} className={classes.row}>
            <div role="columnheader" className={classes.check}>
              <Checkbox
                size="xs"
                aria-label={texts.runs.selectAll}
                title={texts.runs.selectAll}
                checked={areAllSelected}
                indeterminate={selected.size > 0 && !areAllSelected}
                onChange={() => select(runs, !areAllSelected)}
              />
            </div>
            {columns.map(({ name, label, isNumber }) => (
              <div role="columnheader" key={name} className={classes[name]} data-number={isNumber}>
                {name === 'thumb' ? <span className="visually-hidden">{label}</span> : label}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" ref={body} className={classes.body} style={{ height: runs.length * rowHeight }}>
          {runs.slice(first, end).map((run, at) => (
            <div
              role="row"
              aria-rowindex={first + at + 2}
              key={run.request_id}
              className={classes.row}
              style={{ height: rowHeight, top: (first + at) * rowHeight }}
            >
              <div role="cell" className={classes.check}>
                <Checkbox
                  size="xs"
                  aria-label={texts.runs.selectRun(run.model, run.created_at)}
                  checked={selected.has(run.request_id)}
                  onChange={({ currentTarget: { checked } }) => select([run], checked)}
                />
              </div>
              {columns.map(({ name, Cell, isNumber }) => (
                <div role="cell" key={name} className={classes[name]} data-number={isNumber}>
                  <Cell run={run} />
                </div>
              ))}
            </div>
          ))}
        </div>
      </div>
      <p className={classes.end} role="status">
        {isMore ? texts.runs.more : texts.runs.end(runs.length)}
      </p>
    </>
  );
}

interface Column {
  name: string;
  label: string;
  Cell: (props: { run: Run }) => ReactNode;
  isNumber?: true;
}

const columns: readonly Column[] = [
  { name: 'thumb', label: texts.runs.result, Cell: ThumbCell },
  { name: 'time', label: texts.runs.time, Cell: ({ run }) => <Moment at={run.created_at} /> },
  { name: 'model', label: texts.runs.model, Cell: ModelCell },
  { name: 'status', label: texts.runs.status, Cell: StatusCell },
  { name: 'duration', label: texts.runs.duration, Cell: RunDuration, isNumber: true },
  { name: 'cost', label: texts.runs.cost, Cell: CostCell, isNumber: true },
  { name: 'key', label: texts.runs.key, Cell: KeyCell },
];

function ThumbCell({ run }: { run: Run }) {
  const entry = useModels().models.find(({ id }) => id === run.model);
  return (
    <span className={classes.picture}>
      {useIsStill() && <RunThumb run={run} modalities={entry?.output_modalities ?? []} />}
    </span>
  );
}

/** The link covers the whole row. */
function ModelCell({ run }: { run: Run }) {
  // Inputs are kept as long as results.
  const isKept = run.status !== 'COMPLETED' || run.result_available;
  const { data: prompt } = useQuery({ ...runPromptQuery(run.request_id), enabled: useIsStill() && isKept });
  return (
    <>
      <Link to="/runs/$requestId" params={{ requestId: run.request_id }} className={classes.link}>
        {run.model}
      </Link>
      {typeof prompt === 'string' && <span className={classes.prompt}>{prompt}</span>}
    </>
  );
}

/** Rows that are scrolled past ask for nothing. */
const stillMs = 200;

function useIsStill(): boolean {
  const [isStill, setStill] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStill(true), stillMs);
    return () => clearTimeout(timer);
  }, []);
  return isStill;
}

function StatusCell({ run }: { run: Run }) {
  return (
    <>
      <Status run={run} />
      {run.error_type !== undefined && run.error_type !== 'client_disconnected' && (
        <span className={classes.bucket}>{texts.buckets[run.error_type].name}</span>
      )}
    </>
  );
}

function CostCell({ run: { cost_cents, reserved_cents } }: { run: Run }) {
  if (cost_cents !== undefined) return dollarsOfCents(cost_cents);
  return <span className="dimmed">{texts.runs.reserved(dollarsOfCents(reserved_cents))}</span>;
}

function KeyCell({ run: { key_name, key_id } }: { run: Run }) {
  if (key_name !== undefined) return key_name;
  return <span className="dimmed">{key_id === undefined ? texts.runs.token : shortened(key_id)}</span>;
}

const shortened = (id: string): string => `${id.slice(0, 8)}…${id.slice(-4)}`;
