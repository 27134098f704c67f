import { Worker } from 'node:worker_threads';
import type { Model } from '#catalog';
import { InputRejection, RouterError } from '#errors';
import type { CheckOrder, CheckReport } from './check-messages.js';

/** A body that passed: the same bytes, and the most the call can cost in micro-dollars. */
export interface CheckedBody {
  bytes: Buffer;
  reservedMicros: number;
}

interface Waiting {
  resolve: (checked: CheckedBody) => void;
  reject: (error: Error) => void;
}

/** Checks bodies in a thread of its own, one after the other. The thread starts with the first one. */
export class CheckThread {
  private worker: Worker | undefined;
  /** By id the model that the thread knows: an edited row is another model of the same id. */
  private sentModels = new Map<string, Model>();
  private readonly waiting = new Map<number, Waiting>();
  private orders = 0;

  constructor(private readonly timeoutMs: number) {}

  async check(model: Model, bytes: Buffer): Promise<CheckedBody> {
    const worker = (this.worker ??= this.start());
    this.orders += 1;
    const order: CheckOrder = { order: this.orders, modelId: model.id, bytes };
    if (this.sentModels.get(model.id) !== model) order.model = model;
    this.sentModels.set(model.id, model);
    const checked = new Promise<CheckedBody>((resolve, reject) => {
      this.waiting.set(order.order, { resolve, reject });
    });
    const timer = setTimeout(() => this.abandon(worker, 'a check took too long'), this.timeoutMs);
    worker.postMessage(order, [bytes.buffer as ArrayBuffer]);
    return checked.finally(() => clearTimeout(timer));
  }

  async close(): Promise<void> {
    await this.worker?.terminate();
  }

  private start(): Worker {
    const worker = new Worker(new URL('./check-thread-main.js', import.meta.url));
    worker.unref();
    worker.on('message', (report: CheckReport) => this.settle(report));
    worker.on('error', (error) => this.abandon(worker, String(error)));
    worker.on('exit', () => this.abandon(worker, 'the checking thread has ended'));
    return worker;
  }

  private settle(report: CheckReport): void {
    const waiting = this.waiting.get(report.order);
    this.waiting.delete(report.order);
    if (waiting === undefined) return;
    switch (report.kind) {
      case 'accepted': {
        const { buffer, byteOffset, byteLength } = report.bytes;
        const bytes = Buffer.from(buffer, byteOffset, byteLength);
        return waiting.resolve({ bytes, reservedMicros: report.reservedMicros });
      }
      case 'rejected':
        return waiting.reject(new InputRejection(report.fields));
      case 'malformed':
        return waiting.reject(new RouterError('invalid_input', report.detail));
      case 'failed':
        return waiting.reject(new Error(report.reason));
    }
  }

  /** Nobody waits for a thread that is stuck or gone: its callers may retry, and the next body starts a new one. */
  private abandon(worker: Worker, reason: string): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    this.sentModels = new Map();
    const left = [...this.waiting.values()];
    this.waiting.clear();
    void worker.terminate();
    for (const { reject } of left) {
      reject(
        new RouterError('service_unavailable', 'The request could not be checked in time; please retry.', {
          internal: reason,
        }),
      );
    }
  }
}
