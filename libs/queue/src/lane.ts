import type { LaneKind } from './port.js';

/** `dispatch-fal`, `poll`, `assets`: the BullMQ queue of a lane on a server that has one for each provider. */
export function laneName(lane: LaneKind, provider: string): string {
  return lane === 'dispatch' ? `dispatch-${provider}` : lane;
}

/** Braces make the name the hash tag: all keys of a lane share a slot, and lanes spread over the cluster. */
export function keyPrefix(name: string): string {
  return `{mr:${name}}`;
}

export function runChannel(runId: string): string {
  return `mr:run:${runId}`;
}
