import { Button, Progress } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Square } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import { runQuery } from '../../api/run.ts';
import { runResultQuery } from '../../api/run-result.ts';
import { Problem } from '../../api/problem.ts';
import { type RunStatus, useRunStatus } from '../../api/run-status.ts';
import { streamedText, type TextPlaces } from '../../api/streamed-text.ts';
import { CopyId } from '../../parts/copy-id.tsx';
import { duration } from '../../parts/duration.ts';
import { Failure } from '../../parts/failure.tsx';
import type { MediaKind, Medium } from '../../parts/media.ts';
import { useNow } from '../../parts/moment.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { Output } from '../../parts/output.tsx';
import { StreamedOutput } from '../../parts/streamed-output.tsx';
import { Status } from '../../parts/status.tsx';
import { texts } from '../../texts/index.ts';
import classes from './model.module.css';
import { SendTo } from './send-to.tsx';
import type { Taking } from './takes.ts';
import type { LiveText } from './use-streamed-run.ts';

interface RunPanelProps {
  id: string;
  requestId: string | undefined;
  modalities: readonly string[];
  /** Whether a run with a stream has been submitted whose answer has not begun. */
  isStarting: boolean;
  /** The text of the run that this tab streams. */
  live: LiveText | undefined;
  /** The places of the text in the model's events. */
  places: TextPlaces | undefined;
  takeMedium: (medium: Medium, taking: Taking) => void;
  /** This model's own field for a file of this kind. */
  taking: (kind: MediaKind) => Taking | undefined;
}

/** Progress and result of the run started on this page. */
export function RunPanel({
  id,
  requestId,
  modalities,
  isStarting,
  live,
  places,
  takeMedium,
  taking,
}: RunPanelProps) {
  const { status, progress, error } = useRunStatus(id, requestId);
  const isCompleted = status?.status === 'COMPLETED';
  const result = useQuery({ ...runResultQuery(id, requestId ?? ''), enabled: isCompleted });
  const failure = result.error instanceof Problem ? result.error : undefined;
  // Only the run itself tells whether a failure was billed.
  const failed = useQuery({ ...runQuery(requestId ?? ''), enabled: failure !== undefined });
  const lostCents = failed.data?.cost_cents ?? 0;
  const costCents = result.data?.costCents ?? (lostCents > 0 ? lostCents : undefined);
  const queries = useQueryClient();
  useEffect(() => {
    // The cost is final now, so credits and the list of runs are out of date.
    if (isCompleted) void queries.invalidateQueries({ queryKey: ['workspace'] });
    if (isCompleted) void queries.invalidateQueries({ queryKey: ['requests'] });
  }, [isCompleted, queries]);

  const isStreamed = live !== undefined && live.run === requestId;
  const events = result.data?.kind === 'events' ? result.data.text : undefined;
  const text = useMemo(
    () => (events !== undefined && places !== undefined ? streamedText(events, places) : undefined),
    [events, places],
  );
  const words = text ?? (isStreamed && live.text !== '' ? live.text : undefined);

  if (isStarting) {
    return (
      <div className={classes.panel}>
        <div className={classes.statusLine} />
        <div className={classes.steady}>
          <Waiting phase={texts.model.phase.starting} />
        </div>
      </div>
    );
  }
  if (requestId === undefined) {
    return (
      <div className={classes.blank}>
        <p>{texts.model.blank}</p>
        <p className="dimmed">{texts.model.blankDetail}</p>
      </div>
    );
  }
  if (error !== undefined) return <Failure error={error} title={texts.model.lost} />;
  return (
    <div className={classes.panel}>
      <StatusLine id={id} requestId={requestId} status={status} costCents={costCents} />
      <div className={isStreamed && failure === undefined ? classes.steady : undefined}>
        {words !== undefined ? (
          <StreamedOutput text={words} isOpen={!isCompleted} events={events} />
        ) : !isCompleted ? (
          <Waiting phase={phase(status, progress)} progress={progress} />
        ) : (
          result.data !== undefined && (
            <Output
              result={result.data}
              modalities={modalities}
              origin={{ model: id, run: requestId }}
              renderActions={(medium) => {
                const own = taking(medium.kind);
                return (
                  <>
                    {own !== undefined && (
                      <Button variant="subtle" color="gray" size="xs" onClick={() => takeMedium(medium, own)}>
                        {texts.output.use}
                      </Button>
                    )}
                    <SendTo medium={medium} from={id} />
                  </>
                );
              }}
            />
          )
        )}
      </div>
      {result.error !== null && !failed.isLoading && (
        <Failure
          error={result.error}
          title={texts.model.failed}
          advice={
            lostCents > 0 && failure?.bucket !== undefined
              ? { [failure.bucket]: texts.failure.billed(dollarsOfCents(lostCents)) }
              : texts.failure.advice
          }
        />
      )}
    </div>
  );
}

function Waiting({ phase, progress }: { phase: string; progress?: number | undefined }) {
  return (
    <div className={classes.waiting}>
      <Progress
        value={progress === undefined ? 100 : progress * 100}
        animated={progress === undefined}
        aria-label={texts.model.progress}
      />
      <p className="dimmed">{phase}</p>
    </div>
  );
}

function phase(status: RunStatus | undefined, progress: number | undefined): string {
  if (status === undefined) return texts.model.phase.submitted;
  if (status.status === 'IN_QUEUE') return texts.model.phase.queued(status.queue_position ?? 0);
  if (progress === undefined) return texts.model.phase.generating;
  return texts.model.phase.share(Math.round(progress * 100));
}

interface StatusLineProps {
  id: string;
  requestId: string;
  status: RunStatus | undefined;
  costCents: number | undefined;
}

function StatusLine({ id, requestId, status, costCents }: StatusLineProps) {
  const isLive = status?.status !== 'COMPLETED';
  return (
    <div className={classes.statusLine}>
      <output>{status !== undefined && <Status run={status} />}</output>
      {isLive && <Elapsed requestId={requestId} />}
      {costCents !== undefined && (
        <span className="figures">{texts.model.billed(dollarsOfCents(costCents))}</span>
      )}
      <span className={classes.runLink}>
        <Link to="/runs/$requestId" params={{ requestId }}>
          {texts.model.runPage}
        </Link>
        <CopyId id={requestId} />
      </span>
      {isLive && <Cancel id={id} requestId={requestId} />}
    </div>
  );
}

/** Time since admission, which the run's ID contains: the first 48 bits of a UUIDv7 are a timestamp. */
function Elapsed({ requestId }: { requestId: string }) {
  const nowMs = useNow(100);
  const startMs = Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16);
  return <span className={`figures ${classes.elapsed}`}>{duration(Math.max(0, nowMs - startMs))}</span>;
}

function Cancel({ id, requestId }: { id: string; requestId: string }) {
  const [isRequested, setRequested] = useState(false);
  const cancel = async () => {
    setRequested(true);
    // A cancellation that comes too late isn't a failure: the result is there.
    await call(`/v2/models/${id}/requests/${requestId}/cancel`, { method: 'PUT' }).catch(() =>
      setRequested(false),
    );
  };
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Square size={12} aria-hidden />}
      disabled={isRequested}
      onClick={() => void cancel()}
    >
      {isRequested ? texts.model.cancelling : texts.model.cancel}
    </Button>
  );
}
