import { amount, type Control } from './control.js';

type JsonObject = Record<string, unknown>;

/** Tokens that a simulated model writes in a second, whether its stream shows them or not. */
export const tokensPerSecond = 60;

/** Tokens of a text, as the simulated providers count them. */
export const tokensOfText = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

/** Tokens that a model writes unseen in this time. */
export const hiddenTokens = (ms: number): number => Math.round((ms * tokensPerSecond) / 1000);

/** How long the model reasons before its answer. */
export const reasonMs = (control: Control): number => amount(control, 'stream_reason', 0);

/** Where providers report the tokens that they read and wrote; the last place has those that nobody sees. */
const places = [
  ['usage', 'input_tokens', 'output_tokens', 'output_tokens'],
  ['usage', 'prompt_tokens', 'completion_tokens', 'completion_tokens'],
  ['usageMetadata', 'promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'],
] as const;

/** The reply with these tokens as its usage. */
export function withUsage(
  reply: JsonObject,
  { read, shown, hidden }: { read?: number; shown: number; hidden: number },
): JsonObject {
  for (const [object, reads, writes, hides] of places) {
    const usage = reply[object] as JsonObject | undefined;
    if (usage === undefined || !(reads in usage)) continue;
    const { cost: _cost, ...counted } = usage;
    const written = writes === hides ? { [writes]: shown + hidden } : { [writes]: shown, [hides]: hidden };
    return { ...reply, [object]: { ...counted, ...(read !== undefined && { [reads]: read }), ...written } };
  }
  return reply;
}

/** The tokens that a reply reports as read. */
export function readTokens(reply: JsonObject): number {
  for (const [object, reads] of places) {
    const count = (reply[object] as JsonObject | undefined)?.[reads];
    if (typeof count === 'number') return count;
  }
  return 0;
}
