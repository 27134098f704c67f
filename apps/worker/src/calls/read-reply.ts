import {
  type BoundProvider,
  type Handle,
  type Outcome,
  reportedMicros,
  type Run,
  type Signal,
} from '#providers';
import type { ReportedTerm } from '#schemas';

/** What a reply answers, and where it says what the run cost. */
export type Asked = { reported: readonly ReportedTerm[] } & (
  { phase: 'submit'; run: Run } | { phase: 'resume'; handle: Handle }
);

/** What a reply means for the run, and what it says that the run cost. */
export interface ReadReply {
  outcome: Outcome;
  reportedMicros?: number | undefined;
}

export const readReply = (adapter: BoundProvider['adapter'], asked: Asked, signal: Signal): ReadReply => ({
  outcome: outcomeOf(adapter, asked, signal),
  reportedMicros: reportedMicros(asked.reported, signal),
});

function outcomeOf(adapter: BoundProvider['adapter'], asked: Asked, signal: Signal): Outcome {
  if (asked.phase === 'submit') return adapter.onSubmit(asked.run, signal);
  if (!adapter.onResume) throw new Error('the provider has nothing to poll');
  return adapter.onResume(asked.handle, signal);
}
