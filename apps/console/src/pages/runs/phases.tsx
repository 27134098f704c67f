import type { RunDetail } from '../../api/run.ts';
import { duration } from '../../parts/duration.ts';
import { useNow } from '../../parts/moment.tsx';
import { texts } from '../../texts/index.ts';
import classes from './phases.module.css';

const names = ['queued', 'dispatched', 'generating', 'copying'] as const;

interface Phase {
  name: (typeof names)[number];
  ms: number;
  isNow: boolean;
}

/** Shows the time spent in each phase, to scale. The current phase keeps growing. */
export function Phases({ run }: { run: RunDetail }) {
  const isLive = run.status !== 'COMPLETED';
  const nowMs = useNow(isLive ? 500 : 60_000);
  const phases = phasesOf(run, nowMs);
  const totalMs = phases.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <section aria-label={texts.run.phases} className={classes.phases}>
      <div className={classes.bar} aria-hidden>
        {phases.map(({ name, ms, isNow }) => (
          <div
            key={name}
            data-phase={name}
            data-now={isNow}
            style={{ flexGrow: Math.max(ms, totalMs / 200) }}
          />
        ))}
      </div>
      <ol className={classes.legend}>
        {phases.map(({ name, ms, isNow }) => (
          <li key={name} data-phase={name} aria-current={isNow ? 'step' : undefined}>
            <span className={classes.name}>{texts.run.phase[name]}</span>
            <span className="figures">{duration(ms)}</span>
          </li>
        ))}
        <li className={classes.total}>
          <span>{texts.run.total}</span>
          <span className="figures">{duration(totalMs)}</span>
        </li>
      </ol>
    </section>
  );
}

/** The phases that the run has reached. Each ends when the next one begins. */
function phasesOf(run: RunDetail, nowMs: number): Phase[] {
  const begins = [run.created_at, run.granted_at, run.started_at, run.output_at].map((at) =>
    at === undefined ? undefined : Date.parse(at),
  );
  const endMs = run.completed_at === undefined ? nowMs : Date.parse(run.completed_at);
  return names.flatMap((name, at) => {
    const beginMs = begins[at];
    if (beginMs === undefined) return [];
    const nextMs = begins.slice(at + 1).find((next) => next !== undefined);
    const isNow = nextMs === undefined && run.completed_at === undefined;
    return [{ name, ms: Math.max(0, (nextMs ?? endMs) - beginMs), isNow }];
  });
}
