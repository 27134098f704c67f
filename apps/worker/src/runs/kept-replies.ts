import { failpoint, type Log, LOG } from '#observability';
import { RunRepository } from '#persistence';
import type { HttpReply } from '#providers';
import { runKeys, StorageError } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import { Payloads } from '../bytes/payloads.js';
import type { Unread } from '../calls/reply-reader.js';
import { SETTINGS } from '../settings.module.js';
import type { WorkerSettings } from '../settings.js';
import type { Finishing } from './outcomes.js';

/**
 * Stands where a run has a provider's handle: the reply to its submission is in the store and was not read yet. Another
 * version than that of handles, so that a release which does not know it leaves the run alone.
 */
interface KeptReply {
  v: 2;
  step: 'read';
  status: number;
  headers: Record<string, string>;
}

/** When the run is taken up by another worker, at the earliest, if this one dies before the reply is read. */
const readMs = 15_000;

/** The stored reply that a run's handle stands for; null for a provider's handle. */
export function keptReply(handle: unknown): Omit<HttpReply, 'body'> | null {
  const { v, step, status, headers } = (handle ?? {}) as Partial<KeptReply>;
  return v === 2 && step === 'read' && status !== undefined && headers !== undefined
    ? { status, headers }
    : null;
}

/** Tells a store that is away, which comes back, from a reply that is gone. */
export function unreadAfter(
  error: unknown,
  runId: string,
  log: { warn: (facts: object, message: string) => void },
): Unread {
  if (!(error instanceof StorageError)) throw error;
  log.warn({ error, run_id: runId }, 'a stored reply could not be read, trying again');
  return error.failure === 'not_found' ? 'gone' : 'busy';
}

/** Large replies to submissions, which are stored before they are read: they are paid, and are given once. */
@Injectable()
export class KeptReplies {
  constructor(
    private readonly runs: RunRepository,
    private readonly payloads: Payloads,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'STORE_PAYLOAD_MS'>,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** False when it could not be stored: then it is nowhere but here. */
  async keep({ runId, epoch }: Finishing, { status, headers, body }: HttpReply): Promise<boolean> {
    const { 'set-cookie': _cookies, ...kept } = headers;
    const handle: KeptReply = { v: 2, step: 'read', status, headers: kept };
    try {
      await this.payloads.put(runKeys.reply(runId), runId, body, {
        mediaType: headers['content-type'] ?? 'application/octet-stream',
        maxBytes: body.byteLength,
        signal: AbortSignal.timeout(this.settings.STORE_PAYLOAD_MS),
      });
      await this.runs.saveHandle(runId, epoch, handle, readMs);
    } catch (error) {
      this.log.warn({ error, run_id: runId, bytes: body.byteLength }, 'a large reply could not be stored');
      return false;
    }
    await failpoint('dispatch.afterKeep', runId);
    return true;
  }
}
