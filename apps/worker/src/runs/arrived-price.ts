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
  const { tokens, micros, callMicros = 0 } = arrived;
  // A provider that broke off before it wrote anything delivered nothing.
  if (micros === undefined && tokens === 0 && outcome.kind === 'failed') return 0;
  const { inputMicros, tokenMicros, tools } = streams;
  const ofTools = callMicros > 0 ? callMicros + (tools?.inputMicros ?? 0) : 0;
  return (micros ?? Math.ceil(inputMicros + tokens * tokenMicros)) + Math.ceil(ofTools);
}
