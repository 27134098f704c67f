import { Link } from '@tanstack/react-router';
import { CircleSlash, CircleX } from 'lucide-react';
import type { RunDetail } from '../../api/run.ts';
import { dollarsOfCents } from '../../parts/money.ts';
import { texts } from '../../texts/index.ts';
import classes from './run-failure.module.css';

/** Explains what happened, whether the run was billed, and what to do. */
export function RunFailure({
  run,
  bucket,
}: {
  run: RunDetail;
  bucket: NonNullable<RunDetail['error_type']>;
}) {
  const { name, meaning, action } = texts.buckets[bucket];
  const cost = run.cost_cents ?? 0;
  const Icon = bucket === 'client_disconnected' ? CircleSlash : CircleX;
  return (
    <section className={classes.failure} aria-label={texts.run.failure}>
      <Icon size={20} aria-hidden className={classes.icon} />
      <div className={classes.text}>
        <h2>
          {name} <code className={classes.bucket}>{bucket}</code>
        </h2>
        {run.error_detail !== undefined && <p className={classes.detail}>{run.error_detail}</p>}
        {run.error_fields !== undefined && (
          <ul>
            {run.error_fields.map(({ loc, msg }) => (
              <li key={loc.join('.')}>
                <code>{loc.slice(1).join('.') || loc.join('.')}</code> {msg}
              </li>
            ))}
          </ul>
        )}
        <dl>
          <dt>{texts.run.meaning}</dt>
          <dd>{meaning}</dd>
          <dt>{texts.run.money}</dt>
          <dd>{cost > 0 ? texts.run.billed(dollarsOfCents(cost)) : texts.run.notBilled}</dd>
          <dt>{texts.run.action}</dt>
          <dd>
            {action}{' '}
            <Link to="/guide/$" params={{ _splat: `errors/${bucket}` }}>
              {texts.run.moreAboutIt}
            </Link>
          </dd>
        </dl>
      </div>
    </section>
  );
}
