import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { modelDocumentQuery } from '../../api/model-document.ts';
import { useModels } from '../../api/models.ts';
import { type RunDetail, runQuery } from '../../api/run.ts';
import { runResultQuery } from '../../api/run-result.ts';
import { CopyId } from '../../parts/copy-id.tsx';
import { Failure } from '../../parts/failure.tsx';
import type { Medium } from '../../parts/media.ts';
import { factsText, mediumFactsQuery } from '../../parts/medium-facts.ts';
import { dollarsOfCents } from '../../parts/money.ts';
import { Output } from '../../parts/output.tsx';
import { resultFindings } from '../../parts/result-findings.ts';
import { RunDuration } from '../../parts/run-duration.tsx';
import { Status } from '../../parts/status.tsx';
import { texts } from '../../texts/index.ts';
import { SendTo } from '../model/send-to.tsx';
import classes from './compare.module.css';

interface RunFactsProps {
  requestId: string;
  /** Whether no other run of the comparison was cheaper, or faster. */
  isLowest: boolean;
  isFastest: boolean;
}

/** A run's price, time and size, and its result. */
export function RunFacts({ requestId, isLowest, isFastest }: RunFactsProps) {
  const { data: run, error, refetch } = useQuery(runQuery(requestId));
  if (run === undefined)
    return error ? (
      <Failure error={error} title={texts.run.missing} retry={() => void refetch()} />
    ) : (
      <Skeleton height={320} />
    );
  return (
    <>
      <div className={classes.state}>
        <output>
          <Status run={run} />
        </output>
        <Link to="/runs/$requestId" params={{ requestId }}>
          {texts.model.runPage}
        </Link>
        <CopyId id={requestId} />
      </div>
      <dl className={`figures ${classes.facts}`}>
        <div>
          <dt>{texts.compare.price}</dt>
          <dd>
            {run.cost_cents === undefined
              ? texts.runs.reserved(dollarsOfCents(run.reserved_cents))
              : dollarsOfCents(run.cost_cents)}
            {isLowest && <span className={classes.best}>{texts.compare.lowest}</span>}
          </dd>
        </div>
        <div>
          <dt>{texts.compare.time}</dt>
          <dd>
            <RunDuration run={run} />
            {isFastest && <span className={classes.best}>{texts.compare.fastest}</span>}
          </dd>
        </div>
        <RunResult run={run} />
      </dl>
    </>
  );
}

function RunResult({ run }: { run: RunDetail }) {
  const entry = useModels().models.find(({ id }) => id === run.model);
  const modalities = entry?.output_modalities ?? [];
  const isCollectable = run.status === 'COMPLETED' && (run.result_available || run.error_type !== undefined);
  const { data, error } = useQuery({
    ...runResultQuery(run.model, run.request_id),
    enabled: isCollectable,
  });
  const document = useQuery({ ...modelDocumentQuery(run.model), enabled: data?.kind === 'events' });
  const places = document.data?.stream?.text;
  const found = data && resultFindings(data, modalities, places);
  return (
    <>
      <div>
        <dt>{texts.compare.size}</dt>
        <dd>
          {found?.media.map((medium) => (
            <MediumSize key={medium.url} medium={medium} />
          ))}
          {found?.media.length === 0 && found.texts.length > 0 && (
            <span>{texts.compare.words(wordsIn(found.texts))}</span>
          )}
          {found === undefined && '–'}
        </dd>
      </div>
      <div className={classes.result}>
        <dt className="visually-hidden">{texts.run.output}</dt>
        <dd>
          {run.status !== 'COMPLETED' ? (
            <p className={classes.waiting}>{texts.run.notYet}</p>
          ) : !isCollectable ? (
            <p className={classes.waiting}>{texts.compare.outputGone}</p>
          ) : error ? (
            <Failure error={error} title={texts.model.failed} advice={texts.failure.advice} />
          ) : data === undefined || document.isLoading ? (
            <Skeleton height={240} />
          ) : (
            <Output
              result={data}
              modalities={modalities}
              places={places}
              origin={{ model: run.model, run: run.request_id }}
              renderActions={(medium) => <SendTo medium={medium} from={run.model} />}
            />
          )}
        </dd>
      </div>
    </>
  );
}

const wordsIn = (said: readonly string[]) => said.join(' ').split(/\s+/).filter(Boolean).length;

function MediumSize({ medium }: { medium: Medium }) {
  const { data } = useQuery(mediumFactsQuery(medium));
  return <span className={classes.size}>{data === undefined ? '…' : factsText(data) || '–'}</span>;
}
