import { Injectable } from '@nestjs/common';
import { AttemptRepository, type RunAttempts } from './attempt.repository.js';
import { Database, operators } from './database.js';
import type { Run } from './entities/run.entity.js';
import { type OperatorRun, OperatorReader } from './operator-reader.js';
import { type ProviderPause, ProviderPauseRepository } from './provider-pause.repository.js';
import { outboxRowOf } from './run-facts.js';
import { type WebhookDetail, WebhookRepository } from './webhook.repository.js';

/** Facts of the run's rows. All are null once its result has aged out. */
interface RowFacts {
  callId: string | null;
  detail: string | null;
  handle: Run['handle'];
  epoch: number | null;
  crashes: number | null;
  /** Null for a run that has ended, and for one that waits for a free slot. */
  dueAt: Date | null;
  deadlineAt: Date | null;
  traceparent: string | null;
  /** The line in which it waits. Null for a run that has ended. */
  line: string | null;
}

/** A run with everything that operators may know about it. */
export interface OperatorRunDetail extends OperatorRun, RowFacts, RunAttempts {
  /** The current pauses of its provider, if it is live. */
  pauses: ProviderPause[];
  webhook: WebhookDetail | null;
  /** Since when it is a sample of its model. Null if it isn't. */
  pinnedAt: Date | null;
}

const none: RowFacts = {
  callId: null,
  detail: null,
  handle: null,
  epoch: null,
  crashes: null,
  dueAt: null,
  deadlineAt: null,
  traceparent: null,
  line: null,
};

/** Reads one run of any workspace with all that explains its state, for operators. */
@Injectable()
export class OperatorRunReader {
  constructor(
    private readonly database: Database,
    private readonly runs: OperatorReader,
    private readonly attempts: AttemptRepository,
    private readonly pauses: ProviderPauseRepository,
    private readonly webhooks: WebhookRepository,
  ) {}

  /** The run with this id, or the run that the call with this id admitted or joined. */
  async find(id: string): Promise<OperatorRunDetail | null> {
    const run = await this.runs.find(id);
    if (run === null) return null;
    const [facts = none] = await this.database.list<RowFacts>(
      operators,
      `SELECT run.call ->> 'requestId' AS "callId", run.failure ->> 'detail' AS detail, run.handle, run.epoch, run.crashes,
          CASE WHEN outbox.due_at < 'infinity' THEN outbox.due_at END AS "dueAt", run.deadline_at AS "deadlineAt",
          run.facts ->> 'traceparent' AS traceparent, outbox.provider AS line
        FROM run LEFT JOIN outbox ON ${outboxRowOf('run')} WHERE run.id = $1`,
      [run.requestId],
    );
    const [sample] = await this.database.list<{ pinnedAt: Date }>(
      operators,
      'SELECT pinned_at AS "pinnedAt" FROM model_sample WHERE run_id = $1',
      [run.requestId],
    );
    const attempts = await this.attempts.of(run.requestId);
    const pauses = facts.line === null ? [] : await this.pauses.standing(facts.line);
    return {
      ...run,
      ...facts,
      ...attempts,
      pauses,
      webhook: await this.webhooks.find(run.workspaceId, run.requestId),
      pinnedAt: sample?.pinnedAt ?? null,
    };
  }
}
