import { describe, expect, it } from '@jest/globals';
import { eitherTransport, failOnLeftovers, openAnswer, sharedSystem } from '../harness/index.js';

interface Asked {
  model: string;
  body: object;
  /** The member that limits the answer. */
  limit: object;
  query?: string;
}

const messages = [{ role: 'user', content: 'Say hello.' }];
const asked: Readonly<Record<string, Asked>> = {
  Responses: { model: 'openai/gpt-5.5', body: { input: 'Say hello.' }, limit: { max_output_tokens: 100 } },
  'chat completions': {
    model: 'openai/gpt-5.5-chat-completions',
    body: { messages },
    limit: { max_completion_tokens: 100 },
  },
  Gemini: {
    model: 'vertexai/gemini-2.5-flash',
    body: { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] },
    limit: { generationConfig: { maxOutputTokens: 100 } },
    query: '?alt=sse',
  },
  Messages: { model: 'anthropic/claude-opus-5', body: { messages }, limit: { max_tokens: 100 } },
  'another provider': {
    model: 'openrouter/chat-completions',
    body: { model: 'openai/gpt-5.6-luna', messages },
    limit: { max_tokens: 100 },
  },
};
const mustLimit = ['Messages'];

describe.each(eitherTransport())('on %s, the record of', (transport) => {
  const system = sharedSystem(transport);

  async function writtenBy({ model, body, query = '' }: Asked, streams: boolean, limit: object) {
    const caller = await system.caller();
    const stream = streams && query === '' ? { stream: true } : {};
    const answer = await openAnswer(`${system.gateways[0]?.url}/v2/models/${model}${streams ? query : ''}`, {
      key: caller.key,
      body: JSON.stringify({ ...body, ...limit, ...stream }),
      headers: {},
      pauseMs: 0,
    });
    await answer.ended;
    await system.ended(caller);
    const [record] = await system.sql<{ outcome: string; written: object | null }>(
      'SELECT outcome, written FROM audit_record WHERE workspace_id = $1',
      [caller.workspaceId],
    );
    return record;
  }

  it.each(Object.entries(asked))('a run of %s has what its model wrote', async (name, each) => {
    const measured = { tokens: expect.any(Number), ms: expect.any(Number) };
    for (const streams of [true, false]) {
      const limited = await writtenBy(each, streams, each.limit);
      expect(limited).toEqual({ outcome: 'succeeded', written: measured });
      if (mustLimit.includes(name)) continue;
      const open = await writtenBy(each, streams, {});
      expect(open).toEqual({ outcome: 'succeeded', written: { ...measured, isOpen: true } });
    }
  });

  it('another run has nothing', async () => {
    const image = { model: 'bfl/flux-2-pro', body: { prompt: 'a lighthouse' }, limit: {} };
    expect(await writtenBy(image, false, {})).toEqual({ outcome: 'succeeded', written: null });
  });
});

failOnLeftovers();
