import { setTimeout as pause } from 'node:timers/promises';

const requestMs = 30_000;
const maxBytes = 64 * 1024 * 1024;
/** Pauses before retries. A source that asks for a longer pause than `maxPauseMs` is not waited for. */
const retryPausesMs = [250, 500, 1000];
const maxPauseMs = 60_000;

/** The source cannot be read. The message names the address. */
export class SourceFailure extends Error {
  constructor(
    message: string,
    readonly status?: number,
    /** The pause before a retry, in milliseconds. Absent if a retry would not help. */
    readonly retryMs?: number,
  ) {
    super(message);
  }
}

/** Reads JSON from the HTTP API of a source, with time limits and a limited number of retries. */
export class SourceApi {
  constructor(
    readonly base: string,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly signal: AbortSignal,
  ) {}

  /** Throws `SourceFailure`, or the reason of the signal. */
  async get(path: string, query: readonly (readonly [string, string])[] = []): Promise<unknown> {
    const search = new URLSearchParams(
      query.map(([name, value]): [string, string] => [name, value]),
    ).toString();
    const address = `${this.base}${path}${search && `?${search}`}`;
    for (const pauseMs of [...retryPausesMs, undefined]) {
      try {
        return await this.read(address);
      } catch (error) {
        this.signal.throwIfAborted();
        const waitMs = error instanceof SourceFailure ? error.retryMs : undefined;
        if (waitMs === undefined || waitMs > maxPauseMs || pauseMs === undefined) throw error;
        await pause(Math.max(pauseMs, waitMs), undefined, { signal: this.signal });
      }
    }
    throw new Error('no attempt left');
  }

  private async read(address: string): Promise<unknown> {
    const place = address.split('?')[0] ?? address;
    let text: string;
    try {
      const signal = AbortSignal.any([this.signal, AbortSignal.timeout(requestMs)]);
      const response = await fetch(address, { headers: this.headers, signal, redirect: 'error' });
      if (!response.ok) {
        await response.body?.cancel();
        const { status } = response;
        const seconds = Number(response.headers.get('retry-after') ?? 0) || 0;
        const isTemporary = status === 429 || status >= 500;
        throw new SourceFailure(
          `${place} answered ${status}`,
          status,
          isTemporary ? seconds * 1000 : undefined,
        );
      }
      text = await bodyOf(response, place);
    } catch (error) {
      if (error instanceof SourceFailure) throw error;
      // The message of fetch itself only says that it failed.
      const { cause, message } = error as Partial<Error>;
      const reason = (cause as Partial<Error> | undefined)?.message ?? message;
      throw new SourceFailure(`${place} could not be read: ${reason}`, undefined, 0);
    }
    try {
      return JSON.parse(text);
    } catch {
      throw new SourceFailure(`${place} did not return JSON`);
    }
  }
}

async function bodyOf(response: Response, place: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new SourceFailure(`${place} returned more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The text of a failure of the source. Rethrows other errors. */
export function failureText(error: unknown): string {
  if (error instanceof SourceFailure) return error.message;
  throw error;
}
