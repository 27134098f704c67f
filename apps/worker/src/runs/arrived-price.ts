import type { StreamFacts } from '#persistence';
import type { ReadReply } from '#providers';

/**
 * The price of a stream without a final report of its usage, by what is known of it. Undefined if the reply is not a
 * stream.
 */
export function arrivedMicros(
  streams: StreamFacts | undefined,
  { outcome, arrived }: ReadReply,
): number | undefined {
  if (streams === undefined || arrived === undefined) return undefined;
  if (arrived.micros !== undefined) return arrived.micros;
  // A provider that broke off before it wrote anything delivered nothing.
  const isNothing = arrived.tokens === 0 && outcome.kind === 'failed';
  const { tokens, callMicros = 0 } = arrived;
  return isNothing ? 0 : Math.ceil(streams.inputMicros + tokens * streams.tokenMicros + callMicros);
}
