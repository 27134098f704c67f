import { Ban, CircleCheck, CircleX, Clock, FlaskConical, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import classes from './state-mark.module.css';

const icons = {
  good: CircleCheck,
  calm: Ban,
  waiting: Clock,
  warn: TriangleAlert,
  bad: CircleX,
  simulated: FlaskConical,
} as const;

/** The state of anything but a run, with an icon and a word so that it doesn't depend on colour. */
export function StateMark({ tone, children }: { tone: keyof typeof icons; children: ReactNode }) {
  const Icon = icons[tone];
  return (
    <span className={classes.mark} data-tone={tone}>
      <Icon size={14} aria-hidden />
      {children}
    </span>
  );
}
