import type { ReactNode } from 'react';
import type { Attempt } from '../../api/operator.ts';
import { Moment } from '../../parts/moment.tsx';
import { texts } from '../../texts/index.ts';
import classes from './attempts.module.css';

/** Provider calls that didn't simply succeed, each with an optional note, such as its run. */
export function Attempts({ attempts }: { attempts: readonly { attempt: Attempt; note?: ReactNode }[] }) {
  return (
    <ol className={classes.attempts}>
      {attempts.map(({ attempt, note }, nth) => (
        <li key={`${attempt.at} ${nth}`} className={classes.attempt}>
          <AttemptFacts attempt={attempt} note={note} />
        </li>
      ))}
    </ol>
  );
}

function AttemptFacts({ attempt, note }: { attempt: Attempt; note: ReactNode }) {
  const { at, last_at, count, provider, phase, status, retry, reading, provider_request_id, reply } = attempt;
  return (
    <>
      <div className={classes.head}>
        <span className={classes.phase}>{texts.attempts.phases[phase]}</span>
        <span>{provider}</span>
        <span>{status === undefined ? texts.attempts.noReply : `HTTP ${status}`}</span>
        <code>{attempt.class}</code>
        <Moment at={at} />
        {last_at !== undefined && (
          <span>
            {texts.attempts.times(count)}, {texts.attempts.until} <Moment at={last_at} />
          </span>
        )}
        {note}
      </div>
      <p className={classes.reading}>
        {reading} {retry !== undefined && texts.attempts.retries[retry]}
      </p>
      {provider_request_id !== undefined && (
        <p className="dimmed">
          {texts.attempts.requestId} <code>{provider_request_id}</code>
        </p>
      )}
      {reply !== undefined && (
        <pre className={classes.reply} role="group" aria-label={texts.attempts.reply} tabIndex={0}>
          {reply}
        </pre>
      )}
    </>
  );
}
