import { Button } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Problem } from '../api/problem.ts';
import { texts } from '../texts/index.ts';
import { CopyId } from './copy-id.tsx';
import classes from './parts.module.css';

interface FailureProps {
  error: unknown;
  retry?: () => void;
  title?: string;
  /** Advice by bucket. Defaults to the advice for calls that aren't runs. */
  advice?: Record<string, string>;
  /** Another way forward, if trying again doesn't help. */
  children?: ReactNode;
}

/** The API's message, what to do about it, and the ID for the operator: the run's, or the call's if there is no run. */
export function Failure({
  error,
  retry,
  title,
  advice: advices = texts.failure.otherAdvice,
  children,
}: FailureProps) {
  const problem = error instanceof Problem ? error : undefined;
  const id = problem?.runId ?? problem?.callId;
  const advice = problem?.bucket === undefined ? undefined : advices[problem.bucket];
  return (
    <section className={classes.failure} role="alert">
      <CircleAlert size={20} aria-hidden className={classes.failureIcon} />
      <div className={classes.failureText}>
        <h2>{title ?? texts.failure.title}</h2>
        <p>{error instanceof Error ? error.message : String(error)}</p>
        {problem !== undefined && problem.fields.length > 0 && (
          <ul className={classes.fields}>
            {problem.fields.map(({ loc, msg }) => (
              <li key={loc.join('.')}>
                <code>{loc.slice(1).join('.') || loc.join('.')}</code> {msg}
              </li>
            ))}
          </ul>
        )}
        {advice !== undefined && <p className="dimmed">{advice}</p>}
        <p className={`dimmed ${classes.facts}`}>
          {problem?.bucket !== undefined && <code>{problem.bucket}</code>}
          {id !== undefined && (
            <span>
              {problem?.runId === undefined ? texts.failure.call : texts.failure.run} <CopyId id={id} />
            </span>
          )}
        </p>
        {retry !== undefined && (
          <Button variant="default" onClick={retry}>
            {texts.failure.retry}
          </Button>
        )}
        {children}
      </div>
    </section>
  );
}
