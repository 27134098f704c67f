import { every, type PeriodicWork, settlesWithin } from '#observability';
import { type Attempt, AttemptRepository, DatabaseOutage, type NotedAttempt } from '#persistence';
import type { BoundProvider, Signal } from '#providers';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import { AttemptBuffer, type DueAttempts, gatherMs, type WaitingAttempt } from './attempt-buffer.js';
import { replyFacts } from './reading.js';
import { maxEchoed, redactedReply, withoutSecrets } from './redaction.js';

/** Runs per statement. Each may bring an input of 256 KiB. */
const maxWritten = 50;
const closeMs = 2_000;

/**
 * Notes provider calls that did not simply succeed, for operators. No call waits for the writes: they are gathered, and
 * lost if the database does not take them.
 */
@Injectable()
export class AttemptRecorder implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly buffer = new AttemptBuffer();
  private rounds: PeriodicWork | undefined;

  constructor(
    @Inject(AttemptRepository) private readonly attempts: Pick<AttemptRepository, 'note' | 'inputsOf'>,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds = every(gatherMs, () => this.write(), { onError: (error) => this.lost(error) });
  }

  /** The processors have stopped by now, and the database is still open. */
  async beforeApplicationShutdown(): Promise<void> {
    const last = async () => {
      await this.rounds?.stop();
      await this.write(Infinity);
    };
    await settlesWithin(
      last().catch((error: unknown) => this.lost(error)),
      closeMs,
    );
  }

  /** Notes a call. `signal` is what came back, if the call was made. */
  note(
    { name, secret }: Pick<BoundProvider, 'name' | 'secret'>,
    runId: string,
    trouble: Omit<Attempt, 'provider'>,
    signal?: Signal,
  ): void {
    const reading = withoutSecrets(trouble.reading, secret);
    this.buffer.add(runId, {
      ...trouble,
      ...(signal && replyFacts(signal)),
      provider: name,
      reading,
      secret,
    });
  }

  /** Writes what is due by then. */
  async write(byMs?: number): Promise<void> {
    for (;;) {
      const due = this.buffer.takeDue(maxWritten, byMs);
      if (due.length === 0) return;
      await this.attempts.note(await this.redacted(due));
    }
  }

  private async redacted(due: readonly DueAttempts[]) {
    const quoting = due.filter(({ attempts }) => attempts.some(mayQuote)).map(({ runId }) => runId);
    const inputs =
      quoting.length === 0 ? new Map<string, Uint8Array>() : await this.attempts.inputsOf(quoting);
    const nowMs = performance.now();
    const noted = [];
    for (const { runId, leftOut, attempts } of due) {
      noted.push({
        runId,
        leftOut,
        attempts: attempts.map((each) => notedAs(each, inputs.get(runId), nowMs)),
      });
      // Comparing replies with a large input takes milliseconds.
      if (inputs.has(runId)) await turn();
    }
    return noted;
  }

  private lost(error: unknown): void {
    this.outage.warn({ error }, 'could not write attempts; operators will not see them');
  }
}

const mayQuote = ({ reply }: Attempt): boolean => reply !== undefined && reply.length > maxEchoed;

function notedAs(waiting: WaitingAttempt, input: Uint8Array | undefined, nowMs: number): NotedAttempt {
  const { firstMs, lastMs, reply, secret, ...attempt } = waiting;
  const noted = { ...attempt, firstAgoMs: nowMs - firstMs, lastAgoMs: nowMs - lastMs };
  return reply === undefined ? noted : { ...noted, reply: redactedReply(reply, secret, input) };
}
