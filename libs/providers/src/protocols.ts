import type { Handle, Outcome, ProviderAdapter, SubmittedRun } from './contract.js';

/**
 * A provider with several protocols. A model row names one as `protocol`, by default the first, and the handle
 * remembers it. All protocols share credentials and their origins.
 */
export function protocols(kinds: Readonly<Record<string, ProviderAdapter>>): ProviderAdapter {
  const [[usual, first] = []] = Object.entries(kinds);
  if (first === undefined) throw new Error('a provider has at least one protocol');
  const ofRow = ({ upstream }: SubmittedRun) => upstream['protocol'] ?? usual ?? '';

  const speaking = (protocol: unknown): ProviderAdapter => {
    const adapter =
      typeof protocol === 'string' && Object.hasOwn(kinds, protocol) ? kinds[protocol] : undefined;
    if (adapter === undefined) throw new Error(`there is no protocol ${String(protocol)}`);
    return adapter;
  };
  const of = (handle: Handle) => speaking(handle['protocol']);
  return {
    ...first,
    files: (run) => speaking(ofRow(run)).files?.(run) ?? [],
    upload: (run) => speaking(ofRow(run)).upload?.(run),
    submit: (run) => speaking(ofRow(run)).submit(run),
    onSubmit: (run, signal, assets) => {
      const protocol = ofRow(run);
      return remembering(speaking(protocol).onSubmit(run, signal, assets), protocol);
    },
    readStream: (run, reply, hiddenTokens) => speaking(ofRow(run)).readStream?.(run, reply, hiddenTokens),
    writtenTokens: (run, reply) => speaking(ofRow(run)).writtenTokens?.(run, reply),
    streamRecord: (run, reply) => speaking(ofRow(run)).streamRecord?.(run, reply),
    resume: (handle) => polled(of(handle).resume?.(handle)),
    // A handle stays the same from poll to poll, including its protocol.
    onResume: (handle, signal, assets) => polled(of(handle).onResume?.(handle, signal, assets)),
    cancel: (handle) => of(handle).cancel?.(handle),
    onCancel: (handle, signal) => of(handle).onCancel?.(handle, signal) ?? 'unknown',
  };
}

function polled<Made>(made: Made | undefined): Made {
  if (made === undefined) throw new Error('a protocol without a poll is not polled');
  return made;
}

const remembering = (outcome: Outcome, protocol: string): Outcome =>
  'handle' in outcome ? { ...outcome, handle: { ...outcome.handle, protocol } } : outcome;
