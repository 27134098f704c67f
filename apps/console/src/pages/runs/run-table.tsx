import { useMediaQuery } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { RunDuration } from '../../parts/run-duration.tsx';
import { Status } from '../../parts/status.tsx';
import { useWindowRows } from '../../parts/use-window-rows.ts';
import { texts } from '../../texts/index.ts';
import classes from './run-table.module.css';
import type { Run } from './use-runs.ts';

interface RunTableProps {
  runs: readonly Run[];
  isMore: boolean;
  readMore: () => void;
}

/** Renders only the visible rows, so that 100,000 runs scroll as smoothly as a few. */
export function RunTable({ runs, isMore, readMore }: RunTableProps) {
  const body = useRef<HTMLDivElement>(null);
  const rowHeight = useMediaQuery('(max-width: 640px)') ? 64 : 44;
  const { first, end } = useWindowRows(body, runs.length, rowHeight);
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
            {columns.map(({ name, label, isNumber }) => (
              <div role="columnheader" key={name} className={classes[name]} data-number={isNumber}>
                {label}
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
  { name: 'time', label: texts.runs.time, Cell: ({ run }) => <Moment at={run.created_at} /> },
  { name: 'model', label: texts.runs.model, Cell: ModelCell },
  { name: 'status', label: texts.runs.status, Cell: StatusCell },
  { name: 'duration', label: texts.runs.duration, Cell: RunDuration, isNumber: true },
  { name: 'cost', label: texts.runs.cost, Cell: CostCell, isNumber: true },
  { name: 'key', label: texts.runs.key, Cell: KeyCell },
  { name: 'id', label: texts.runs.run, Cell: ({ run }) => <code>{shortened(run.request_id)}</code> },
];

/** The link covers the whole row. */
function ModelCell({ run }: { run: Run }) {
  return (
    <Link to="/runs/$requestId" params={{ requestId: run.request_id }} className={classes.link}>
      {run.model}
    </Link>
  );
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
  return <span className="dimmed">{texts.runs.atMost(dollarsOfCents(reserved_cents))}</span>;
}

function KeyCell({ run: { key_name, key_id } }: { run: Run }) {
  if (key_name !== undefined) return key_name;
  return <span className="dimmed">{key_id === undefined ? texts.runs.token : shortened(key_id)}</span>;
}

const shortened = (id: string): string => `${id.slice(0, 8)}…${id.slice(-4)}`;
