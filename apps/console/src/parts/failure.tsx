import { Button } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Problem } from '../api/problem.ts';
import { texts } from '../texts.ts';
import { CopyId } from './copy-id.tsx';
import classes from './parts.module.css';

interface FailureProps {
  error: unknown;
  retry?: () => void;
  title?: string;
  /** By bucket, whether money was spent and what to do; of a run, where it is not about another call. */
  advice?: Record<string, string>;
  /** A way on, where to try again is of no use. */
  children?: ReactNode;
}

/** What went wrong in the words of the API, whether money was spent, what to do, and the id to name when asking. */
export function Failure({
  error,
  retry,
  title,
  advice: advices = texts.failure.otherAdvice,
  children,
}: FailureProps) {
  const problem = error instanceof Problem ? error : undefined;
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
          {problem?.callId !== undefined && (
            <span>
              {texts.failure.call} <CopyId id={problem.callId} />
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
