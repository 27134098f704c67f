import type { Model } from '#catalog';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { SETTINGS } from '../settings.module.js';
import { checkBody } from './check-body.js';
import { type CheckedBody, CheckThread } from './check-thread.js';
import type { BodySettings } from './settings.js';

/**
 * Checks bodies: small ones at once, large ones beside the event loop, where they hold up no other call. A mebibyte of
 * empty objects takes a fifth of a second.
 */
@Injectable()
export class BodyChecker implements OnApplicationShutdown {
  private readonly thread: CheckThread;

  constructor(@Inject(SETTINGS) private readonly settings: BodySettings) {
    this.thread = new CheckThread(settings.BODY_CHECK_TIMEOUT_MS);
  }

  /** Takes the bytes over and hands them back. Throws as `checkBody` does. */
  async check(model: Model, bytes: Buffer): Promise<CheckedBody> {
    if (bytes.length > this.settings.BODY_CHECK_AT_ONCE) return this.thread.check(model, bytes);
    return { bytes, reservedMicros: checkBody(model, bytes) };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.thread.close();
  }
}
