import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useModels } from '../../api/models.ts';
import { runListQuery } from '../../api/run-list.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { relativeTo, useNow } from '../../parts/moment.tsx';
import { RunThumb } from '../../parts/run-thumb.tsx';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { texts } from '../../texts/index.ts';
import classes from './home.module.css';
import { Part } from './part.tsx';

const pollMs = 15_000;
const maxResults = 10;

/** The newest results that are still there. Each opens its run. */
export function LatestPart() {
  const runs = useQuery(runListQuery({ outcome: 'succeeded', limit: maxResults }, pollMs));
  const { models } = useModels();
  const nowMs = useNow(60_000);
  return (
    <Part title={<Link to="/outputs">{texts.home.latest}</Link>}>
      <Loaded query={runs} skeleton={<TableSkeleton rows={4} />}>
        {({ data }) => {
          const shown = data.filter(({ result_available: isThere }) => isThere);
          if (shown.length === 0) return <p className="dimmed">{texts.home.noLatest}</p>;
          return (
            <ul className={classes.results}>
              {shown.map((run) => (
                <li key={run.request_id}>
                  <Link
                    to="/runs/$requestId"
                    params={{ requestId: run.request_id }}
                    aria-label={texts.home.result(run.model, relativeTo(nowMs, Date.parse(run.created_at)))}
                  >
                    <RunThumb
                      run={run}
                      modalities={models.find(({ id }) => id === run.model)?.output_modalities ?? []}
                    />
                  </Link>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Part>
  );
}
