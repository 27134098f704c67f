import { duration } from './duration.ts';
import { useNow } from './moment.tsx';

interface Times {
  created_at: string;
  duration_ms?: number | undefined;
}

/** The run's duration so far, or in total. */
export function RunDuration({ run }: { run: Times }) {
  if (run.duration_ms !== undefined) return duration(run.duration_ms);
  return <SoFar since={run.created_at} />;
}

function SoFar({ since }: { since: string }) {
  const passedMs = Math.max(0, useNow(1_000) - Date.parse(since));
  return <span className="dimmed">{duration(passedMs)}</span>;
}
