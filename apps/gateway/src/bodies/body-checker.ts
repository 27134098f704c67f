import { oncePerModel } from '#catalog';
import { InputRejection, RouterError } from '#errors';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Piscina } from 'piscina';
import { SETTINGS } from '../settings.module.js';
import {
  checkBody,
  type CheckedInput,
  type CheckOrder,
  type CheckReport,
  type ModelText,
  type Servers,
} from './check-thread.js';
import type { BodySettings } from './settings.js';

/** A body that passed: the same bytes, and what is known of them. */
type CheckedBody = { bytes: Buffer } & CheckedInput;

const maxWaiting = 1000;
/** Larger bodies are checked in the thread. */
const maxCheckedAtOnce = 64 * 1024;

const textOf = oncePerModel((model): ModelText => ({ id: model.id, json: JSON.stringify(model) }));

/**
 * Checks bodies: small ones at once, large ones in a thread beside the event loop, where they hold up no other call. A
 * mebibyte of empty objects takes a fifth of a second.
 */
@Injectable()
export class BodyChecker implements OnApplicationShutdown {
  /** The thread starts with the first large body and stays, because it keeps compiled schemas. */
  private readonly thread = new Piscina<CheckOrder, CheckReport>({
    filename: new URL('./check-thread.js', import.meta.url).href,
    name: 'check',
    minThreads: 0,
    maxThreads: 1,
    maxQueue: maxWaiting,
    idleTimeout: Infinity,
  });

  constructor(@Inject(SETTINGS) private readonly settings: BodySettings) {}

  /** Takes the bytes over and hands them back. Throws as `checkBody` does. */
  async check(servers: Servers, bytes: Buffer): Promise<CheckedBody> {
    if (bytes.length <= maxCheckedAtOnce) {
      return { bytes, ...checkBody(servers, bytes) };
    }
    const [server, ...others] = servers;
    const report = await this.checkInThread([textOf(server), ...others.map(textOf)], bytes);
    if ('fields' in report) throw new InputRejection(report.fields);
    if ('detail' in report) throw new RouterError('invalid_input', report.detail);
    if ('bug' in report) throw new Error(report.bug);
    const { buffer, byteOffset, byteLength } = report.bytes;
    return { ...report, bytes: Buffer.from(buffer, byteOffset, byteLength) };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.thread.destroy();
  }

  private async checkInThread(servers: CheckOrder['servers'], bytes: Buffer): Promise<CheckReport> {
    try {
      return await this.thread.run(
        { servers, bytes },
        {
          transferList: [bytes.buffer as ArrayBuffer],
          signal: AbortSignal.timeout(this.settings.BODY_CHECK_TIMEOUT_MS),
        },
      );
    } catch (error) {
      // Too slow, too many waiting, or the thread has died: the next body starts a new one.
      throw new RouterError(
        'service_unavailable',
        'The request could not be checked in time; please retry.',
        { internal: String(error), cause: error },
      );
    }
  }
}
