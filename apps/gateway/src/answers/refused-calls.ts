import { InputRejection, type RouterError } from '#errors';
import {
  BackgroundWriter,
  DatabaseOutage,
  isUnavailable,
  maxRefusedCalls,
  type NotedRefusal,
  RefusedCallRepository,
} from '#persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathTemplate } from './request-path.js';
import { plainFieldsOf } from './refused-fields.js';
import { runIdOf } from './run-of-call.js';
import { submissionOf } from './submissions.js';

/** The refusals that a caller asks its operator about. A call without a credential has no workspace, and is only logged. */
export const keptStatuses: readonly number[] = [402, 422, 429];

const everyMs = 2_000;
/** The calls of all workspaces together take about 5 MB. */
const maxWaiting = 10_000;
/** Calls per statement. */
const maxWritten = 1_000;
const maxDetail = 1_000;

type Waiting = Omit<NotedRefusal, 'agoMs'> & { atMs: number };

/**
 * Keeps the calls for runs that were refused, so that they are found by their ids. A refusal only adds to a list in memory,
 * because a caller that repeats refused calls must not cost the database a statement for each.
 */
@Injectable()
export class RefusedCalls extends BackgroundWriter {
  /** The newest of each workspace, oldest first. */
  private waiting = new Map<string, Waiting[]>();
  private size = 0;

  constructor(
    @Inject(RefusedCallRepository) private readonly calls: Pick<RefusedCallRepository, 'note'>,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    super(outage, everyMs, 'could not write refused calls; after an outage they are written again');
  }

  /** Notes a failed call, if it is a refusal that is kept. */
  note(error: RouterError, request: FastifyRequest, reply: FastifyReply): void {
    const submission = submissionOf(reply);
    const { caller } = request;
    if (!keptStatuses.includes(error.status) || submission === undefined || caller === null) return;
    // A refusal by the provider is the outcome of a run.
    if (runIdOf(reply) !== undefined) return;
    this.add({
      callId: request.id,
      workspaceId: caller.workspaceId,
      route: `${request.method} ${pathTemplate(request.routeOptions.url ?? '')}`,
      status: error.status,
      bucket: error.bucket,
      model: submission.model,
      detail: error.publicDetail.slice(0, maxDetail),
      fields: error instanceof InputRejection ? plainFieldsOf(error) : [],
      atMs: performance.now(),
    });
  }

  async write(): Promise<void> {
    const waiting = [...this.waiting.values()].flat();
    this.waiting = new Map();
    this.size = 0;
    while (waiting.length > 0) {
      const nowMs = performance.now();
      const calls = waiting.slice(0, maxWritten);
      try {
        await this.calls.note(calls.map(({ atMs, ...call }) => ({ ...call, agoMs: nowMs - atMs })));
      } catch (error) {
        if (isUnavailable(error)) this.putBack(waiting);
        throw error;
      }
      waiting.splice(0, maxWritten);
    }
  }

  /** Calls above the bounds are only in the log: the oldest of their workspace, and new ones while all are too many. */
  private add(call: Waiting): void {
    const own = this.waiting.get(call.workspaceId) ?? [];
    if (own.length >= maxRefusedCalls) {
      own.shift();
      this.size -= 1;
    } else if (this.size >= maxWaiting) return;
    own.push(call);
    this.size += 1;
    this.waiting.set(call.workspaceId, own);
  }

  private putBack(calls: readonly Waiting[]): void {
    const newer = [...this.waiting.values()].flat();
    this.waiting = new Map();
    this.size = 0;
    for (const call of [...calls, ...newer]) this.add(call);
  }
}
