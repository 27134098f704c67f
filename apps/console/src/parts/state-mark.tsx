import { Ban, CircleCheck, CircleX, Clock, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import classes from './state-mark.module.css';

const icons = { good: CircleCheck, calm: Ban, waiting: Clock, warn: TriangleAlert, bad: CircleX } as const;

/** The state of something other than a run; never by colour alone. */
export function StateMark({ tone, children }: { tone: keyof typeof icons; children: ReactNode }) {
  const Icon = icons[tone];
  return (
    <span className={classes.mark} data-tone={tone}>
      <Icon size={14} aria-hidden />
      {children}
    </span>
  );
}
