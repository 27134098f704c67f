import { describe, expect, it } from '@jest/globals';
import { findingsIn } from './media.ts';

const urls = (output: unknown, expected: string[] = []) =>
  findingsIn(output, expected).media.map(({ kind, url }) => [kind, url]);

describe('findingsIn', () => {
  it('finds media at any depth by the extension of their URL, each once', () => {
    const output = {
      images: [{ url: 'https://a.example/x.png?sig=1' }],
      video: 'https://a.example/y.MP4',
      same: 'https://a.example/x.png?sig=1',
    };
    expect(urls(output)).toEqual([
      ['image', 'https://a.example/x.png?sig=1'],
      ['video', 'https://a.example/y.MP4'],
    ]);
  });

  it('assumes that a URL without an extension is the model’s output, unless its name says otherwise', () => {
    const output = { result: { sample: 'https://a.example/1' }, status_url: 'https://a.example/2' };
    expect(urls(output, ['image'])).toEqual([['image', 'https://a.example/1']]);
    expect(urls(output)).toEqual([]);
  });

  it('finds data: URLs whatever the case of their scheme and type', () => {
    const url = 'DATA:Image/SVG+XML;x="y",%3Csvg/%3E';
    expect(findingsIn({ output: url }, []).media).toEqual([{ kind: 'image', url, name: 'image.svg' }]);
  });

  it('finds base64 media by the type next to them or by the usual name', () => {
    expect(urls({ data: [{ b64_json: 'iVBORw0KGgo' }] }, ['image'])).toEqual([
      ['image', 'data:image/png;base64,iVBORw0KGgo'],
    ]);
    expect(urls({ inlineData: { mimeType: 'audio/wav', data: 'UklG' } })).toEqual([
      ['audio', 'data:audio/wav;base64,UklG'],
    ]);
  });

  it('ignores markup, scripts and types that are not media', () => {
    const output = {
      html: '<script>alert(1)</script>',
      url: 'javascript:alert(1)',
      page: 'data:text/html,<script>alert(1)</script>',
      inlineData: { mimeType: 'text/html', data: 'PHNjcmlwdD4=' },
    };
    expect(findingsIn(output, ['image'])).toEqual({ media: [], texts: [] });
  });

  it('collects text meant for people, and survives circular structures', () => {
    expect(findingsIn({ content: [{ type: 'text', text: 'Hello' }], id: 'x' }, ['text']).texts).toEqual([
      'Hello',
    ]);
    const loop: Record<string, unknown> = {};
    loop['again'] = loop;
    expect(findingsIn(loop, []).media).toEqual([]);
  });
});
