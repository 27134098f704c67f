import {
  type Attempt,
  AttemptRepository,
  BackgroundWriter,
  DatabaseOutage,
  isUnavailable,
  type NotedAttempt,
} from '#persistence';
import type { KeyedProvider, Signal } from '#providers';
import { Inject, Injectable } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import { AttemptBuffer, type DueAttempts, gatherMs, type WaitingAttempt } from './attempt-buffer.js';
import { replyFacts } from './reading.js';
import { maxEchoed, redactedReply, withoutSecrets } from './redaction.js';

/** Runs per statement. Each may bring an input of 256 KiB. */
const maxWritten = 50;

/**
 * Notes provider calls that did not simply succeed, for operators.
 */
@Injectable()
export class AttemptRecorder extends BackgroundWriter {
  private readonly buffer = new AttemptBuffer();

  constructor(
    @Inject(AttemptRepository) private readonly attempts: Pick<AttemptRepository, 'note' | 'inputsOf'>,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    super(outage, gatherMs, 'could not write attempts; after an outage they are written again');
  }

  /** Notes a call. `signal` is what came back, if the call was made. */
  note(
    { name }: Pick<KeyedProvider, 'name'>,
    runId: string,
    trouble: Omit<Attempt, 'provider'>,
    signal?: Signal,
  ): void {
    const reading = withoutSecrets(trouble.reading);
    this.buffer.add(runId, {
      ...trouble,
      ...(signal && replyFacts(signal)),
      provider: name,
      reading,
    });
  }

  async write(byMs?: number): Promise<void> {
    for (;;) {
      const due = this.buffer.takeDue(maxWritten, byMs);
      if (due.length === 0) return;
      try {
        await this.attempts.note(await this.redacted(due));
      } catch (error) {
        if (isUnavailable(error)) this.buffer.putBack(due);
        throw error;
      }
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
}

const mayQuote = ({ reply }: Attempt): boolean => reply !== undefined && reply.length > maxEchoed;

function notedAs(waiting: WaitingAttempt, input: Uint8Array | undefined, nowMs: number): NotedAttempt {
  const { firstMs, lastMs, reply, ...attempt } = waiting;
  const noted = { ...attempt, firstAgoMs: nowMs - firstMs, lastAgoMs: nowMs - lastMs };
  return reply === undefined ? noted : { ...noted, reply: redactedReply(reply, input) };
}
