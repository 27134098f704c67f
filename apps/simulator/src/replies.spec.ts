import { isUtf8 } from 'node:buffer';
import { describe, expect, it } from '@jest/globals';
import { readControl } from './control.js';
import type { Generation, Phase } from './ledger/generation.js';
import type { Reply, View } from './provider.js';
import { providers } from './providers/providers.js';
import { Replies } from './replies.js';

const protocols = providers.flatMap((provider) =>
  provider.protocols.map((protocol) => ({
    provider,
    protocol,
    label: `${provider.name} ${protocol.submits[0]?.path}`,
  })),
);

function viewOf(tokens: string[], phase: Phase, path: string): View {
  const { control } = readControl(tokens);
  const body = Buffer.from('{"storageUri":"gs://b/f/"}');
  const timing = { atMs: 0, queuedMs: 0, takesMs: 0, canceledAtMs: null };
  const facts = { id: '4611686018427387905', model: 'o/m', prompt: 'a "cat"', path, body };
  const generation = { ...facts, ...timing } as Generation;
  return { generation, control, phase, api: 'http://api/p', assets: 'http://assets/p' };
}

/** Empty for binary files. */
function textOf({ body }: Reply): string {
  if (Buffer.isBuffer(body)) return isUtf8(body) ? body.toString() : '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}

describe.each(protocols)('$label', ({ provider, protocol }) => {
  const replies = new Replies(provider, protocol);
  const path = `/${provider.name}${protocol.submits[0]?.path ?? ''}`;
  const endings = ['success', 'no_asset', 'policy_submit', 'policy_output', 'job_failed'];
  const ended = (tokens: string[]) => {
    const view = viewOf(tokens, 'succeeded', path);
    return [
      replies.submitted(view),
      ...(protocol.poll ? [replies.poll(view)] : []),
      ...(protocol.fetch ? [replies.fetch(view)] : []),
    ];
  };

  it('has a complete reply to every call in every phase', () => {
    const phases: Phase[] = ['queued', 'running', 'canceled'];
    const all = [
      ...[401, 402, 422, 429, 503, 500].map((status) => replies.refusal(status, new Map())),
      ...(protocol.poll ? endings : endings.slice(0, 1)).flatMap((name) => ended([name])),
      ...(protocol.poll ? phases.map((phase) => replies.poll(viewOf([], phase, path))) : []),
      ...(protocol.poll ? [replies.poll(viewOf(['unknown_status'], 'running', path)), replies.lost] : []),
      ...(protocol.fetch ? phases.map((phase) => replies.fetch(viewOf([], phase, path))) : []),
      ...(protocol.cancel
        ? (['canceled', 'too_late', 'ignored', 'unknown'] as const).map((verdict) =>
            replies.cancel(verdict, viewOf([], 'running', path)),
          )
        : []),
    ];
    const texts = all.map(textOf);
    expect(texts.filter((text) => /<[a-z]+[>.:]/.test(text))).toEqual([]);
    for (const text of texts.filter((each) => each.startsWith('{')))
      expect(JSON.parse(text)).toBeInstanceOf(Object);
  });

  it('reports the requested cost, if the provider reports costs at all', () => {
    const reported = JSON.stringify(ended(['cost=31.5']).map(({ headers, body }) => [headers, body]));
    const silent =
      /^(beeble|bria|freepik|higgsfield|ideogram|krea|ltx|luma|luma-2|pruna|stability|tencent|tripo|wavespeed) |audio.speech|v1.video_generation|:predict|:embedContent/;
    expect(reported.includes('31.5')).toBe(!silent.test(`${provider.name} ${path}`));
  });
});

it('accepts only numbers as a cost', () => {
  expect(readControl(['cost=0.25']).problems).toEqual([]);
  expect(readControl(['cost', 'cost=', 'cost=much']).problems).toHaveLength(3);
});
