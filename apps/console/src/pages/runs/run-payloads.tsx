import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { modelDocumentQuery } from '../../api/model-document.ts';
import { useModels } from '../../api/models.ts';
import { hasExpired } from '../../api/problem.ts';
import { type RunDetail, runInputQuery } from '../../api/run.ts';
import { runResultQuery } from '../../api/run-result.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Failure } from '../../parts/failure.tsx';
import { indentedJson } from '../../parts/indented-json.ts';
import { Output } from '../../parts/output.tsx';
import { texts } from '../../texts/index.ts';
import { SendTo } from '../model/send-to.tsx';
import classes from './run-page.module.css';

export function RunOutput({ run }: { run: RunDetail }) {
  if (run.error_type !== undefined) return null;
  return (
    <section aria-label={texts.run.output}>
      <div className={classes.heading}>
        <h2>{texts.run.output}</h2>
      </div>
      {run.status !== 'COMPLETED' ? (
        <p className={classes.waiting}>{texts.run.notYet}</p>
      ) : run.result_available ? (
        <Collected run={run} />
      ) : (
        <p className={classes.waiting}>{texts.run.outputGone}</p>
      )}
    </section>
  );
}

function Collected({ run }: { run: RunDetail }) {
  const { data, error, refetch } = useQuery(runResultQuery(run.model, run.request_id));
  const entry = useModels().models.find(({ id }) => id === run.model);
  const document = useQuery({ ...modelDocumentQuery(run.model), enabled: data?.kind === 'events' });
  if (data !== undefined && !document.isLoading) {
    return (
      <Output
        result={data}
        modalities={entry?.output_modalities ?? []}
        places={document.data?.stream?.text}
        origin={{ model: run.model, run: run.request_id }}
        renderActions={(medium) => <SendTo medium={medium} from={run.model} />}
      />
    );
  }
  return error ? <Failure error={error} retry={() => void refetch()} /> : <Skeleton height={320} />;
}

export function RunInput({ run }: { run: RunDetail }) {
  const { data, error, refetch } = useQuery(runInputQuery(run.request_id));
  return (
    <section aria-label={texts.run.input}>
      <div className={classes.heading}>
        <h2>{texts.run.input}</h2>
        {data !== undefined && <CopyText text={data} label={texts.run.copyInput} />}
      </div>
      {hasExpired(error) ? (
        <p className={classes.waiting}>{texts.run.inputGone}</p>
      ) : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <InputText text={data} />
      )}
    </section>
  );
}

function InputText({ text }: { text: string | undefined }): ReactNode {
  if (text === undefined) return <Skeleton height={120} />;
  return (
    <pre className={classes.json} tabIndex={0}>
      {indentedJson(text)}
    </pre>
  );
}
