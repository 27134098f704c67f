import { type CallQuery, checkInput, oncePerSchema } from '#catalog';
import { InputRejection, RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { Turns } from '#observability';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Piscina } from 'piscina';
import type { CheckOrder, CheckReport, ModelText, Servers, Terms } from './check-thread.js';
import { maxSmallValues, parseInput, smallBytes } from './parse-input.js';
import { MeasuredAnswers } from './measured-answers.js';
import type { BodySettings } from './settings.js';

/** A validated body: the same bytes, and what validation learned about it. */
interface CheckedBody {
  bytes: Buffer;
  terms: Terms;
}

const maxThreads = 2;
/** Maximum number of bodies of one workspace that wait. */
const maxWaitingOfOne = 500;
/** Checking a larger body may take seconds. */
const largeBytes = 1024 * 1024;

const textOf = oncePerSchema((model): ModelText => ({ id: model.id, json: JSON.stringify(model) }));

/**
 * Checks bodies: small ones immediately, large ones in worker threads, where they do not block other calls and
 * workspaces take turns. A mebibyte of empty objects takes a fifth of a second.
 */
@Injectable()
export class BodyChecker implements OnApplicationShutdown {
  /** One body per workspace at a time, so that a workspace delays another by at most one body. */
  private readonly turns = new Turns({
    max: maxThreads,
    maxOfOne: 1,
    maxWaitingOfOne,
    refusal: tooManyWaiting,
  });
  /** One large body at a time, so that large ones never occupy every thread. */
  private readonly largeTurns = new Turns({ max: 1, maxWaitingOfOne, refusal: tooManyWaiting });
  /** A thread starts with the first large body and is kept, because it caches compiled schemas. */
  private readonly threads = new Piscina<CheckOrder, CheckReport>({
    filename: new URL('./check-thread.js', import.meta.url).href,
    name: 'check',
    minThreads: 0,
    maxThreads,
    idleTimeout: Infinity,
  });

  constructor(
    private readonly measured: MeasuredAnswers,
    @Inject(SETTINGS) private readonly settings: BodySettings,
  ) {}

  /**
   * Takes ownership of the bytes and returns them. Throws `InputRejection` for fields that the first server rejects,
   * and `RouterError` for any other problem.
   */
  async checkBody(
    workspaceId: string,
    servers: Servers,
    bytes: Buffer,
    query: CallQuery = {},
  ): Promise<CheckedBody> {
    if (bytes.length > smallBytes) return this.checkInThread(workspaceId, servers, bytes, query);
    const input = parseInput(bytes);
    // The memory of a small body may be shared with other Buffers, so a copy is transferred.
    return input.index.values > maxSmallValues
      ? this.checkInThread(workspaceId, servers, new Uint8Array(bytes), query)
      : { bytes, terms: checkInput(servers, input, query, this.measured.answers) };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.threads.destroy();
  }

  private async checkInThread(
    workspaceId: string,
    [server, ...others]: Servers,
    body: Uint8Array,
    query: CallQuery,
  ): Promise<CheckedBody> {
    const order: CheckOrder = {
      servers: [textOf(server), ...others.map(textOf)],
      query,
      measured: this.measured.of([server, ...others]),
      bytes: body,
    };
    const report = await this.reportOf(workspaceId, order);
    if ('fields' in report) throw new InputRejection(report.fields, report.unknownFields);
    if ('detail' in report) throw new RouterError('invalid_input', report.detail);
    if ('bug' in report) throw new Error(report.bug);
    const { buffer, byteOffset, byteLength } = report.bytes;
    return { ...report, bytes: Buffer.from(buffer, byteOffset, byteLength) };
  }

  /** A check that takes too long ends its thread, and the schemas that the thread had compiled are lost. */
  private async reportOf(workspaceId: string, order: CheckOrder): Promise<CheckReport> {
    const { BODY_CHECK_TIMEOUT_MS: limitMs } = this.settings;
    const waited = AbortSignal.timeout(limitMs);
    const isLarge = order.bytes.length > largeBytes;
    const transferList = [order.bytes.buffer as ArrayBuffer];
    const run = () => this.threads.run(order, { transferList, signal: AbortSignal.timeout(limitMs) });
    const runInTurn = () => this.turns.take(workspaceId, run, waited);
    try {
      return await (isLarge ? this.largeTurns.take(workspaceId, runInTurn, waited) : runInTurn());
    } catch (error) {
      if (error instanceof RouterError) throw error;
      // The wait or the check took too long, or the thread died; the next body starts a new thread.
      throw new RouterError('service_unavailable', 'The request could not be checked in time; retry later.', {
        internal: String(error),
        cause: error,
      });
    }
  }
}

const tooManyWaiting = () =>
  new RouterError('service_unavailable', 'The service is busy with large requests; retry later.', {
    internal: 'too many bodies are waiting to be checked',
  });
