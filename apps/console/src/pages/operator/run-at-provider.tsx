import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type OperatorRunDetail, operatorRunQuery } from '../../api/operator.ts';
import { useScope } from '../../api/workspace.ts';
import { CopyId } from '../../parts/copy-id.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts/index.ts';
import { Attempts } from './attempts.tsx';
import classes from './attempts.module.css';
import operatorClasses from './operator.module.css';
import { PinSample } from './pin-sample.tsx';

/** The facts of a run that only operators may see. Shows nothing to others. */
export function RunAtProvider({ requestId }: { requestId: string }) {
  const isOperator = useScope('operate') === true;
  const { data: run } = useQuery({ ...operatorRunQuery(requestId), enabled: isOperator });
  return run && <AtProvider run={run} />;
}

/** The page of a run of another workspace, for operators, or `otherwise`. */
export function RunOfAnyWorkspace({ requestId, otherwise }: { requestId: string; otherwise: ReactNode }) {
  const isOperator = useScope('operate') === true;
  const { data: run } = useQuery({ ...operatorRunQuery(requestId), enabled: isOperator });
  if (run === undefined) return otherwise;
  return (
    <>
      <PageTitle
        title={run.model}
        detail={
          <span className={operatorClasses.about} role="status">
            {texts.queues.stages[run.stage]}
            {run.error_type !== undefined && <code>{run.error_type}</code>}
            <CopyId id={run.request_id} />
            <Moment at={run.created_at} />
          </span>
        }
      >
        <PinSample requestId={requestId} />
      </PageTitle>
      <AtProvider run={run} />
    </>
  );
}

function AtProvider({ run }: { run: OperatorRunDetail }) {
  const { provider_attempts: attempts, provider_attempts_left_out: leftOut, handle } = run;
  return (
    <section className={operatorClasses.section}>
      <h2>{texts.attempts.title}</h2>
      <dl className={classes.facts}>
        <Fact name={texts.attempts.workspace}>{run.workspace.name}</Fact>
        <Fact name={texts.attempts.provider}>{run.provider}</Fact>
        <Fact name={texts.attempts.stage}>{texts.queues.stages[run.stage]}</Fact>
        <Fact name={texts.attempts.error}>{run.error_detail}</Fact>
        <Fact name={texts.attempts.callId}>{run.call_id && <code>{run.call_id}</code>}</Fact>
        <Fact name={texts.attempts.handle}>{handle && <code>{JSON.stringify(handle)}</code>}</Fact>
        <Fact name={texts.attempts.crashes}>{run.crashes}</Fact>
        <Fact name={texts.attempts.dueAt}>{run.due_at && <Moment at={run.due_at} />}</Fact>
        <Fact name={texts.attempts.deadlineAt}>{run.deadline_at && <Moment at={run.deadline_at} />}</Fact>
        {run.pauses.map(({ asked_by, calls, reason }) => (
          <Fact key={`${asked_by} ${calls}`} name={texts.providers.pausedBy[asked_by]}>
            {reason}
          </Fact>
        ))}
        <Fact name={texts.attempts.trace}>{run.trace_id && <code>{run.trace_id}</code>}</Fact>
      </dl>
      <h3>{texts.attempts.calls}</h3>
      {attempts.length === 0 && <p className="dimmed">{texts.attempts.none}</p>}
      <Attempts attempts={attempts.map((attempt) => ({ attempt }))} />
      {leftOut > 0 && <p className="dimmed">{texts.attempts.leftOut(leftOut)}</p>}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === undefined || children === '') return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
