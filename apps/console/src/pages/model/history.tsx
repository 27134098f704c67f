import { useQuery } from '@tanstack/react-query';
import { modelRunsQuery } from '../../api/model-runs.ts';
import { relativeTo, useNow } from '../../parts/moment.tsx';
import { RunThumb } from '../../parts/run-thumb.tsx';
import { texts } from '../../texts/index.ts';
import { ResultStrip, StripItem } from './result-strip.tsx';

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
  return (
    <ResultStrip title={texts.model.history}>
      {data.data.map((run) => (
        <StripItem
          key={run.request_id}
          id={id}
          opens={{ run: run.request_id }}
          isShown={run.request_id === shown}
          label={texts.model.historyItem(
            texts.parts.status[run.outcome === undefined ? run.status : outcomes[run.outcome]],
            relativeTo(nowMs, Date.parse(run.created_at)),
          )}
        >
          <RunThumb run={run} modalities={modalities} />
        </StripItem>
      ))}
    </ResultStrip>
  );
}

const outcomes = { succeeded: 'COMPLETED', failed: 'failed', cancelled: 'cancelled' } as const;
