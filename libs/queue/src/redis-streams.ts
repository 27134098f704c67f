import type { OutageLog } from '#observability';
import { seal, unseal } from '#schemas';
import { isReady, type RedisClient } from './redis-connections.js';
import type { RedisSignals } from './redis-signals.js';
import { keptMs, maxPiecesRead, RunStreams, type StreamPiece } from './run-streams.js';

const kinds = { o: 'open', b: 'bytes', e: 'end' } as const satisfies Record<string, StreamPiece['kind']>;
type Letter = keyof typeof kinds;
const letters = { open: 'o', bytes: 'b', end: 'e' } as const satisfies Record<StreamPiece['kind'], Letter>;

const keyOf = (runId: string): string => `mr:stream:${runId}`;
/** The purpose names run, kind and offset, so that a piece cannot be moved. */
const purposeOf = (runId: string, letter: string, start: number): string =>
  `stream of run ${runId}: ${letter} at ${start}`;
/** Ids of a stream in Redis only grow, as offsets do, and 0-0 is not one. */
const idOf = ({ kind, start }: StreamPiece): string => (kind === 'open' ? '0-1' : `${start + 1}-0`);

/**
 * One stream in Redis per run. The id of an entry is the offset of its first byte, plus one. Entries are sealed. Only
 * the last bytes are kept, so that a long stream takes no more of Redis than a short one.
 */
export class RedisStreams extends RunStreams {
  constructor(
    private readonly client: RedisClient,
    private readonly outage: OutageLog,
    private readonly settings: { SIGNING_SECRET: readonly string[]; STREAM_KEPT_BYTES: number },
    signals: RedisSignals,
  ) {
    super(signals);
  }

  async read(runId: string, from: number): Promise<StreamPiece[]> {
    if (!isReady(this.client)) return [];
    try {
      const since = from === 0 ? '-' : `${from + 1}-0`;
      const entries = await this.client.xrangeBuffer(keyOf(runId), since, '+', 'COUNT', maxPiecesRead);
      return entries.flatMap(([id, [letter, sealed]]) => this.opened(runId, id, letter, sealed) ?? []);
    } catch (error) {
      this.outage.trouble(error instanceof Error ? error : new Error(String(error)), 'streams');
      return [];
    }
  }

  async forget(runId: string): Promise<void> {
    try {
      if (!isReady(this.client))
        throw new Error('Redis does not answer, so the pieces of a deleted run expire later');
      await this.client.del(keyOf(runId));
    } catch (error) {
      this.outage.trouble(error instanceof Error ? error : new Error(String(error)), 'streams');
    }
  }

  protected async append(runId: string, piece: StreamPiece): Promise<boolean> {
    const [secret] = this.settings.SIGNING_SECRET;
    if (secret === undefined || !isReady(this.client)) return false;
    const key = keyOf(runId);
    const letter = letters[piece.kind];
    const sealed = seal(secret, purposeOf(runId, letter, piece.start), piece.bytes);
    const dropped = piece.start - this.settings.STREAM_KEPT_BYTES;
    const trimmed: [] | ['MINID', string] = dropped > 0 ? ['MINID', `${dropped + 1}-0`] : [];
    const pipeline = this.client.pipeline();
    // The overloads of `xadd` take no optional trimming.
    pipeline.call('XADD', key, ...trimmed, idOf(piece), letter, sealed);
    const results = await pipeline
      .pexpire(key, keptMs)
      .exec()
      .catch(() => null);
    if (results === null || results.some(([error]) => error !== null)) return false;
    void this.signals.publish(runId);
    return true;
  }

  /** The piece of an entry; undefined, with a warning, if it was not sealed with our secret. */
  private opened(
    runId: string,
    id: Buffer,
    letter: Buffer | undefined,
    sealed: Buffer | undefined,
  ): StreamPiece | undefined {
    const kind = kinds[letter?.toString('latin1') as Letter] as StreamPiece['kind'] | undefined;
    const start = kind === 'open' ? 0 : Number.parseInt(id.toString('latin1'), 10) - 1;
    const bytes =
      kind && sealed && unseal(this.settings.SIGNING_SECRET, purposeOf(runId, letters[kind], start), sealed);
    if (kind && bytes) return { kind, start, bytes };
    this.outage.trouble(new Error('ignored a piece that is not sealed with our secret'), 'streams');
    return undefined;
  }
}
