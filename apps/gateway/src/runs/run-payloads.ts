import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { type Log, LOG } from '#observability';
import { type PayloadBody, StoredObjectRepository } from '#persistence';
import { AssetStore, maxRowBytes, runKeys, StorageError, type StorageSettings } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Readable } from 'node:stream';
import { noBody, openedFor } from '../http/replies.js';
import type { Output } from './found-run.js';

/**
 * Stores inputs that are too large for a Postgres row in the asset store, and streams inputs and outputs from there.
 */
@Injectable()
export class RunPayloads {
  constructor(
    private readonly store: AssetStore,
    @Inject(SETTINGS) private readonly settings: StorageSettings,
    @Inject(LOG) private readonly log: Log,
    private readonly objects: StoredObjectRepository,
  ) {}

  /**
   * Returns the input as its row will store it. Throws a 503 if the store does not accept it; nothing was admitted
   * then.
   */
  async keepInput(runId: string, bytes: Buffer): Promise<PayloadBody> {
    if (bytes.length <= maxRowBytes) return bytes;
    const key = runKeys.input(runId);
    await this.objects.note(key, runId, this.settings.STORE_DOUBT_SECONDS);
    try {
      await this.store.put(key, bytes, {
        mediaType: 'application/json',
        maxBytes: bytes.length,
        signal: AbortSignal.timeout(this.settings.STORE_PAYLOAD_MS),
      });
    } catch (error) {
      await this.discardInput({ storedAs: key });
      throw unavailable(error);
    }
    return { storedAs: key };
  }

  /** Discards the input of a call that was not admitted. If this fails, the object is deleted later. */
  async discardInput(body: PayloadBody): Promise<void> {
    if (!('storedAs' in body)) return;
    await this.objects.discard(body.storedAs).catch((error: unknown) => {
      this.log.warn({ error, key: body.storedAs }, 'could not discard an input; it will be deleted later');
    });
  }

  /** Sends an output with the provider's own content type, streamed from the store. Reads nothing for HEAD. */
  async sendOutput(reply: FastifyReply, { mediaType, body }: Output): Promise<void> {
    const isHead = reply.request.method === 'HEAD';
    const payload = isHead ? noBody() : 'storedAs' in body ? await this.open(reply, body.storedAs) : body;
    void reply.header('content-type', mediaType).header('x-content-type-options', 'nosniff').send(payload);
  }

  /** The bytes of an output from an offset on, as fast as the caller takes them. */
  async *readOutput(reply: FastifyReply, { body }: Output, from: number): AsyncGenerator<Uint8Array> {
    if (!('storedAs' in body)) {
      yield body.subarray(from);
      return;
    }
    const stored = await this.opened(reply, body.storedAs);
    let toSkip = from;
    for await (const chunk of stored.body as AsyncIterable<Buffer>) {
      yield chunk.subarray(toSkip);
      toSkip = Math.max(0, toSkip - chunk.length);
    }
  }

  private async open(reply: FastifyReply, key: string): Promise<Readable> {
    const asset = await this.opened(reply, key);
    if (asset.bytes !== undefined) reply.header('content-length', asset.bytes);
    return asset.body;
  }

  /** Only the opening has a time limit, because a caller may read slowly. */
  private async opened(reply: FastifyReply, key: string): ReturnType<AssetStore['get']> {
    try {
      return await openedFor(reply, this.settings.STORE_PAYLOAD_MS, (signal) => this.store.get(key, signal));
    } catch (error) {
      throw unavailable(error);
    }
  }
}

const unavailable = (error: unknown): RouterError =>
  new RouterError(
    'service_unavailable',
    'The service cannot reach its store for large bodies; retry later.',
    {
      internal: error instanceof StorageError ? `store: ${error.failure}` : 'store: no answer in time',
      cause: error,
    },
  );
