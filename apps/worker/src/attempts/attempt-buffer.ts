import type { Attempt } from '#persistence';

/** A new kind of failure is written after this time, together with others. */
export const gatherMs = 1_000;
/** A kind that was noted before is written again after this time. */
export const repeatMs = 30_000;
/** Kinds of failures of one run that are written soon, within `repeatMs`. */
const maxKinds = 20;
/** Attempts of one run that wait to be written: the first half, and the last. */
const maxWaiting = 20;
const maxRuns = 5_000;

/** Equal consecutive attempts, with the times of the first and the last one. */
export interface WaitingAttempt extends Attempt {
  count: number;
  firstMs: number;
  lastMs: number;
}

/** The attempts of one run that are due. */
export interface DueAttempts {
  runId: string;
  attempts: WaitingAttempt[];
  /** The number of calls that the run's other attempts left no room for. */
  leftOut: number;
}

interface Noted {
  waiting: (WaitingAttempt & { kind: string })[];
  leftOut: number;
  /** The kinds since `sinceMs`. */
  kinds: Set<string>;
  sinceMs: number;
  dueMs: number;
}

/**
 * Attempts that wait to be written. Equal consecutive ones become one. A run that fails the same way all the time is due
 * once in `repeatMs`; a kind that is new to it is due soon.
 */
export class AttemptBuffer {
  private readonly runs = new Map<string, Noted>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  add(runId: string, attempt: Attempt): void {
    const nowMs = this.now();
    const noted = this.notedOf(runId, nowMs);
    const kind = kindOf(attempt);
    const isNew = !noted.kinds.has(kind) && noted.kinds.size < maxKinds;
    noted.kinds.add(kind);
    noted.dueMs = Math.min(noted.dueMs, isNew ? nowMs + gatherMs : noted.sinceMs + repeatMs);
    const { waiting } = noted;
    const last = waiting.at(-1);
    if (last?.kind === kind) Object.assign(last, attempt, { count: last.count + 1, lastMs: nowMs });
    else waiting.push({ ...attempt, kind, count: 1, firstMs: nowMs, lastMs: nowMs });
    thin(noted);
  }

  /** Takes back attempts that could not be written. They are due again soon. */
  putBack(due: readonly DueAttempts[]): void {
    const nowMs = this.now();
    for (const { runId, leftOut, attempts } of due) {
      const noted = this.notedOf(runId, nowMs);
      noted.waiting.unshift(...attempts.map((attempt) => ({ ...attempt, kind: kindOf(attempt) })));
      noted.leftOut += leftOut;
      noted.dueMs = Math.min(noted.dueMs, nowMs + gatherMs);
      thin(noted);
    }
  }

  /** Takes the attempts of at most `maxTaken` runs that are due by then, and forgets runs that have none. */
  takeDue(maxTaken: number, byMs = this.now()): DueAttempts[] {
    const due: DueAttempts[] = [];
    for (const [runId, noted] of this.runs) {
      if (noted.waiting.length === 0) {
        if (noted.sinceMs + repeatMs <= this.now()) this.runs.delete(runId);
      } else if (noted.dueMs <= byMs && due.length < maxTaken) {
        due.push({ runId, leftOut: noted.leftOut, attempts: this.take(noted) });
      }
    }
    return due;
  }

  private notedOf(runId: string, nowMs: number): Noted {
    const known = this.runs.get(runId);
    if (known) return known;
    const noted = { waiting: [], leftOut: 0, kinds: new Set<string>(), sinceMs: nowMs, dueMs: Infinity };
    this.runs.set(runId, noted);
    const [oldest = ''] = this.runs.keys();
    if (this.runs.size > maxRuns) this.runs.delete(oldest);
    return noted;
  }

  private take(noted: Noted): WaitingAttempt[] {
    const taken = noted.waiting.splice(0);
    noted.leftOut = 0;
    noted.dueMs = Infinity;
    if (noted.sinceMs + repeatMs <= this.now()) {
      noted.sinceMs = this.now();
      noted.kinds = new Set(taken.map(({ kind }) => kind));
    }
    return taken.map(({ kind: _kind, ...attempt }) => attempt);
  }
}

/** Leaves out what is beyond the room of a run, from the middle. */
function thin(noted: Noted): void {
  const { waiting } = noted;
  const crowded = waiting.splice(maxWaiting / 2, Math.max(0, waiting.length - maxWaiting));
  noted.leftOut += crowded.reduce((sum, { count }) => sum + count, 0);
}

const kindOf = ({ provider, phase, status, class: failureClass, retry, reading }: Attempt): string =>
  JSON.stringify([provider, phase, status, failureClass, retry, reading]);
