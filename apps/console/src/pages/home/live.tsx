import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ListedRun, runListQuery } from '../../api/run-list.ts';
import { workspaceQuery } from '../../api/workspace.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Meter } from '../../parts/meter.tsx';
import { count } from '../../parts/quantities.ts';
import { RunDuration } from '../../parts/run-duration.tsx';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { Status } from '../../parts/status.tsx';
import { texts } from '../../texts/index.ts';
import classes from './home.module.css';
import { Entry, maxEntries, Part } from './part.tsx';

const pollMs = 5_000;
const running = runListQuery({ status: 'IN_PROGRESS', limit: maxEntries }, pollMs);
const queued = runListQuery({ status: 'IN_QUEUE', limit: maxEntries }, pollMs);

/** How many runs the workspace has under way, and the newest of them. */
export function LivePart() {
  const runs = useQuery(running);
  const waiting = useQuery(queued).data?.data ?? [];
  return (
    <Part title={<Link to="/runs">{texts.home.live}</Link>}>
      <Slots />
      <Loaded query={runs} skeleton={<TableSkeleton rows={3} />}>
        {({ data }) => <Runs runs={[...data, ...waiting].slice(0, maxEntries)} />}
      </Loaded>
    </Part>
  );
}

function Slots() {
  const { data } = useQuery({ ...workspaceQuery, refetchInterval: pollMs });
  if (data === undefined) return null;
  const { inflight, backlog } = data.limits;
  return (
    <div className={classes.budget}>
      <Meter
        label={texts.home.slots}
        {...inflight}
        text={texts.parts.of(count(inflight.current), count(inflight.limit))}
      />
      {backlog.current > 0 && <p className={classes.detail}>{texts.home.waiting(backlog.current)}</p>}
    </div>
  );
}

function Runs({ runs }: { runs: readonly ListedRun[] }) {
  if (runs.length === 0) return <p className="dimmed">{texts.home.noLive}</p>;
  return (
    <ul className={classes.list}>
      {runs.map((run) => (
        <Entry
          key={run.request_id}
          name={
            <Link to="/runs/$requestId" params={{ requestId: run.request_id }}>
              {run.model}
            </Link>
          }
          aside={
            <>
              <Status run={run} /> <RunDuration run={run} />
            </>
          }
        />
      ))}
    </ul>
  );
}
