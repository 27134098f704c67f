import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { modelRunsQuery } from '../../api/model-runs.ts';
import { relativeTo, useNow } from '../../parts/moment.tsx';
import { RunThumb } from '../../parts/run-thumb.tsx';
import { texts } from '../../texts/index.ts';
import classes from './model.module.css';

interface HistoryProps {
  id: string;
  /** The run shown on the page. */
  shown: string | undefined;
  modalities: readonly string[];
}

/** The model's last results. Each opens its run, with its input in the form. */
export function History({ id, shown, modalities }: HistoryProps) {
  const { data } = useQuery(modelRunsQuery(id));
  const nowMs = useNow(30_000);
  if (data === undefined || data.data.length === 0) return null;
  const [provider = '', model = ''] = id.split('/');
  return (
    <section aria-label={texts.model.history}>
      <h3 className={classes.stripTitle}>{texts.model.history}</h3>
      <ul className={classes.strip}>
        {data.data.map((run) => (
          <li key={run.request_id}>
            <Link
              to="/models/$provider/$model"
              params={{ provider, model }}
              search={(now) => ({ ...now, run: run.request_id, from: undefined, sample: undefined })}
              replace
              resetScroll={false}
              className={classes.stripItem}
              aria-current={run.request_id === shown}
              aria-label={texts.model.historyItem(
                texts.parts.status[run.outcome === undefined ? run.status : outcomes[run.outcome]],
                relativeTo(nowMs, Date.parse(run.created_at)),
              )}
            >
              <RunThumb run={run} modalities={modalities} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

const outcomes = { succeeded: 'COMPLETED', failed: 'failed', cancelled: 'cancelled' } as const;
