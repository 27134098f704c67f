import { describe, expect, it } from '@jest/globals';
import { codeOf } from './code.ts';
import { linesOf } from './json-lines.ts';

describe('codeOf', () => {
  const facts = {
    id: 'bfl/flux-2-pro',
    text: `{"prompt":"it's a fox","raw":true}`,
    origin: 'https://r.example',
    stream: undefined,
  };

  it('quotes the input for a shell and leaves the key to a variable', () => {
    const code = codeOf('curl', facts);
    expect(code).toContain(`it'\\''s a fox`);
    expect(code).toContain('X-API-Key: $API_KEY');
  });

  it('writes JSON literals as Python does, except inside strings', () => {
    const code = codeOf('python', { ...facts, text: '{"prompt":"true, null","raw":true,"seed":null}' });
    expect(code).toContain('"prompt": "true, null"');
    expect(code).toContain('"raw": True');
    expect(code).toContain('"seed": None');
  });

  it('requests a stream as the model does', () => {
    const byMember = { ...facts, stream: { member: 'stream', text: ['/delta'] } };
    expect(codeOf('curl', byMember)).toContain('curl -sSN https://r.example/v2/models/bfl/flux-2-pro \\');
    expect(codeOf('typescript', byMember)).toContain(`of router.stream('bfl/flux-2-pro', {`);
    expect(codeOf('python', byMember)).toContain('in router.stream("bfl/flux-2-pro", {');
    const byQuery = { ...facts, stream: { query: 'alt=sse', text: ['/text'] } };
    expect(codeOf('curl', byQuery)).toContain('/bfl/flux-2-pro?alt=sse \\');
    expect(codeOf('typescript', byQuery)).toContain('router.run(');
  });
});

describe('linesOf', () => {
  it('maps the path of each value to its line', () => {
    const lines = linesOf(
      '{\n  "prompt": "a\\n{b",\n  "images": [\n    "x",\n    { "url": 1 }\n  ],\n  "seed": 1\n}',
    );
    expect(Object.fromEntries(lines)).toEqual({
      '': 0,
      prompt: 1,
      images: 2,
      'images/0': 3,
      'images/1': 4,
      'images/1/url': 4,
      seed: 6,
    });
  });
});
