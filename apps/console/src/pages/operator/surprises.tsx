import type { Provider } from '../../api/operator.ts';
import { Moment } from '../../parts/moment.tsx';
import { texts } from '../../texts/index.ts';
import attempts from './attempts.module.css';
import classes from './operator.module.css';
import { RunLink } from './operator-runs.tsx';

/** Replies that the provider's declaration doesn't expect: the newest one of each kind. */
export function Surprises({ provider: { surprises } }: { provider: Provider }) {
  if (surprises.length === 0) return null;
  return (
    <section className={classes.section}>
      <h2>{texts.surprises.title}</h2>
      <ol className={attempts.attempts}>
        {surprises.map((surprise) => (
          <li key={surprise.kind} className={attempts.attempt}>
            <div className={attempts.head}>
              <span className={attempts.phase}>{texts.surprises.kinds[surprise.kind]}</span>
              <span>
                {texts.attempts.times(surprise.count)} {texts.surprises.since}{' '}
                <Moment at={surprise.first_at} />
              </span>
              <span>
                {texts.surprises.newest} <Moment at={surprise.last_at} />
              </span>
              {surprise.http_status !== undefined && <span>HTTP {surprise.http_status}</span>}
              <RunLink run={surprise} />
            </div>
            <p className={attempts.reading}>{surprise.detail}</p>
            {surprise.reply !== undefined && (
              <pre className={attempts.reply} role="group" aria-label={texts.attempts.reply} tabIndex={0}>
                {surprise.reply}
              </pre>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
