import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

const pageNodes = 100;
const requestMs = 30_000;
const maxBytes = 64 * 1024 * 1024;
/** Pauses before retries. After the last one the walk fails, and the next command resumes it. */
const retryPausesMs = [250, 500, 1000, 2000, 4000, 8000, 16_000];
const maxPauseMs = 60_000;

/** Only the fields that are used, because another registry may have more or different ones. */
const pageShape = z.object({
  nodes: z.array(z.unknown()),
  total: z.int().min(0),
  totalPages: z.int().min(0).optional(),
});

interface SourcePage {
  nodes: unknown[];
  total: number;
  totalPages: number;
  /** The time by the source's clock, or by ours if it does not report one. */
  at: Date;
}

/** A temporary failure that is worth a retry. */
class TemporaryFailure extends Error {
  constructor(
    message: string,
    readonly waitMs = 0,
  ) {
    super(message);
  }
}

/** Reads another registry's `GET /nodes` at a limited rate and with retries. */
export class SourcePages {
  private nextMs = 0;

  constructor(
    private readonly url: string,
    private readonly perSecond: number,
    private readonly wait: (ms: number) => Promise<void> = pause,
  ) {}

  /** Reads a page of the nodes that changed after `since`, or of all nodes. */
  async read(page: number, since: Date | null, limit = pageNodes): Promise<SourcePage> {
    const query = new URLSearchParams({
      page: `${page}`,
      limit: `${limit}`,
      latest: 'true',
      ...(since && { timestamp: since.toISOString() }),
    });
    const address = `${this.url}/nodes?${query.toString()}`;
    for (const pauseMs of [...retryPausesMs, null]) {
      await this.turn();
      try {
        return await ask(address, limit);
      } catch (error) {
        if (!(error instanceof TemporaryFailure) || pauseMs === null) throw error;
        await this.wait(Math.min(Math.max(pauseMs, error.waitMs), maxPauseMs));
      }
    }
    throw new Error('no attempt left');
  }

  /** Waits until the rate allows another request. */
  private async turn(): Promise<void> {
    const nowMs = performance.now();
    const startMs = Math.max(nowMs, this.nextMs);
    this.nextMs = startMs + 1000 / this.perSecond;
    if (startMs > nowMs) await this.wait(startMs - nowMs);
  }
}

async function ask(address: string, limit: number): Promise<SourcePage> {
  const { response, text } = await fetchText(address);
  if (response.status === 429 || response.status >= 500) {
    const seconds = Number(response.headers.get('retry-after') ?? 0);
    throw new TemporaryFailure(`${address} answered ${response.status}`, (seconds || 0) * 1000);
  }
  if (response.status !== 200) throw new Error(`${address} answered ${response.status}`);
  const parsed = pageShape.safeParse(json(text, address));
  if (!parsed.success) throw new Error(`${address} did not return a page of nodes`);
  const { nodes, total, totalPages = Math.ceil(total / limit) } = parsed.data;
  const at = new Date(response.headers.get('date') ?? Number.NaN);
  return { nodes, total, totalPages, at: Number.isNaN(at.getTime()) ? new Date() : at };
}

async function fetchText(address: string): Promise<{ response: Response; text: string }> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(requestMs) });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new RangeError(`${address} returned more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return { response, text: Buffer.concat(chunks).toString() };
  } catch (error) {
    if (error instanceof RangeError || !(error instanceof Error)) throw error;
    // The message of fetch itself only says that it failed.
    const cause = error.cause instanceof Error ? error.cause.message : error.message;
    throw new TemporaryFailure(`${address} could not be read: ${cause}`);
  }
}

function json(text: string, address: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TemporaryFailure(`${address} did not return JSON`);
  }
}
