// prettier-ignore
const faultKinds = [
  '401', '402', '404', '429', '500', '502', '503', 'html', 'garbage', 'hang', 'reset', 'truncated', 'drip', 'big',
] as const;

/** Faults in one reply. `drip=ms` waits that long before each byte; `big=bytes` pads the reply to that size. */
export type FaultKind = (typeof faultKinds)[number];

// prettier-ignore
const plainNames = [
  // Duration: time to generate, and time in the provider's queue before that.
  'takes', 'queued',
  // Groups generations in the ledger and the peaks.
  'tag',
  // Rejects the submission; `=n` covers the first n submissions of the same body. `account=…` names one of the
  // provider's replies that reject the account, such as `key` or `quota-spend-limit`.
  'policy_submit', 'field_error', '429', 'retry_after', '503', '401', '402', 'locked', 'account', '500_submit', '502_submit',
  '504_submit', 'hang_submit',
  // Accepts the submission and records it, but its reply is lost or unreadable.
  'reset_after_accept', 'hang_after_accept', 'html', 'garbage', 'truncated',
  // Outcome of the generation.
  'policy_output', 'job_failed', 'no_asset', 'no_bytes',
  // Form of the replies; `cost=n` is the figure that the provider reports as the cost of a success.
  'cost', 'unknown_status', 'int64_id', 'hang_poll',
  // Every second poll of a running generation says that it is queued; the first `=n` fetches say that it still runs.
  'status_back', 'result_early',
  // Streams: milliseconds between events and before the first byte; the length; an error, a reset, silence, or a closed
  // connection in the middle. Milliseconds of reasoning before the text, whose tokens the usage then counts, and
  // milliseconds between the answer and its usage.
  'stream_reason', 'stream_late', 'stream_pause', 'stream_slow', 'stream_bytes', 'stream_error', 'stream_reset', 'stream_hang', 'stream_short',
  // Cancellation.
  'cancel_ignored', 'cancel_too_late', 'cancel_forgets',
  // Assets.
  'asset_404', 'asset_empty', 'asset_slow', 'asset_big', 'asset_endless', 'asset_redirect',
] as const;

type PlainName = (typeof plainNames)[number];
type ReplyFaultName = `${'poll' | 'result'}_${FaultKind}`;
export type ControlName = PlainName | ReplyFaultName;

const replyFaultNames = (['poll', 'result'] as const).flatMap((role) =>
  faultKinds.map((kind): ReplyFaultName => `${role}_${kind}`),
);
const known = new Set<string>([...plainNames, ...replyFaultNames]);
const takeText = new Set<string>(['tag', 'account', 'asset_redirect']);

/** Control tokens by name; a token without a value maps to the empty string. */
export type Control = ReadonlyMap<ControlName, string>;

const token = /\[\[sim:([^\]=]*)(?:=([^\]]*))?\]\]/g;

/** The tokens of a prompt as `name` or `name=value`. */
export function tokensOf(prompt: string): string[] {
  return [...prompt.matchAll(token)].map(([, name, value]) =>
    value === undefined ? (name ?? '') : `${name}=${value}`,
  );
}

/** The prompt without its tokens, as it is drawn into images. */
export function withoutTokens(prompt: string): string {
  return prompt.replace(token, ' ').replace(/\s+/g, ' ').trim();
}

/** A later token of the same name wins. Misspelt tokens are reported; ignoring them would make a fault test pass. */
export function readControl(tokens: readonly string[]): { control: Control; problems: string[] } {
  const control = new Map<ControlName, string>();
  const problems: string[] = [];
  for (const each of tokens) {
    const at = each.indexOf('=');
    const name = at === -1 ? each : each.slice(0, at);
    const value = at === -1 ? '' : each.slice(at + 1);
    if (!known.has(name)) problems.push(`unknown control "${name}"`);
    else if (name === 'cost' && !/^\d+(\.\d+)?$/.test(value)) problems.push(`"${name}" needs a number`);
    else if (!takeText.has(name) && name !== 'cost' && !/^\d*$/.test(value))
      problems.push(`"${name}" needs a whole number`);
    else control.set(name as ControlName, value);
  }
  return { control, problems };
}

/** The token's number, or `byDefault` if the token is absent or has no value. */
export function amount(control: Control, name: ControlName, byDefault: number): number {
  const value = control.get(name);
  return value === undefined || value === '' ? byDefault : Number(value);
}

/** Whether a token applies to the `nth` call (from 1): `=n` covers the first n calls, no value covers all. */
export function concerns(control: Control, name: ControlName, nth: number): boolean {
  return control.has(name) && nth <= amount(control, name, Infinity);
}

/** The fault planned for the `nth` reply (from 1) of a poll or a result call. */
export function plannedFault(control: Control, role: 'poll' | 'result', nth: number): FaultKind | undefined {
  if (role === 'poll' && concerns(control, 'hang_poll', nth)) return 'hang';
  return faultKinds.find((kind) => {
    const name: ReplyFaultName = `${role}_${kind}`;
    return kind === 'drip' || kind === 'big' ? control.has(name) : concerns(control, name, nth);
  });
}
