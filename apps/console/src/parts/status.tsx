import { CircleCheck, CircleSlash, CircleX, Clock, LoaderCircle } from 'lucide-react';
import { texts } from '../texts/index.ts';
import classes from './parts.module.css';

/** A run's queue status, and its error if it didn't succeed. */
export interface RunState {
  status: 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED';
  error_type?: string | undefined;
}

/** A run's state, with an icon and a word so that it doesn't depend on colour. */
export function Status({ run }: { run: RunState }) {
  const { kind, Icon } = shownAs(run);
  return (
    <span className={`${classes.status} ${classes[kind]}`}>
      <Icon size={14} aria-hidden />
      {texts.parts.status[kind]}
    </span>
  );
}

function shownAs({ status, error_type }: RunState) {
  if (status === 'IN_QUEUE') return { kind: 'IN_QUEUE', Icon: Clock } as const;
  if (status === 'IN_PROGRESS') return { kind: 'IN_PROGRESS', Icon: LoaderCircle } as const;
  if (error_type === undefined) return { kind: 'COMPLETED', Icon: CircleCheck } as const;
  // This bucket means that the caller cancelled or disconnected.
  if (error_type === 'client_disconnected') return { kind: 'cancelled', Icon: CircleSlash } as const;
  return { kind: 'failed', Icon: CircleX } as const;
}
