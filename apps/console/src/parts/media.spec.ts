import { describe, expect, it } from '@jest/globals';
import { findingsIn } from './media.ts';

const urls = (output: unknown, expected: string[] = []) =>
  findingsIn(output, expected).media.map(({ kind, url }) => [kind, url]);

describe('findingsIn', () => {
  it('finds media by the ending of their URLs, wherever they are, once', () => {
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

  it('takes a URL without an ending for what the model gives, unless its name says otherwise', () => {
    const output = { result: { sample: 'https://a.example/1' }, status_url: 'https://a.example/2' };
    expect(urls(output, ['image'])).toEqual([['image', 'https://a.example/1']]);
    expect(urls(output)).toEqual([]);
  });

  it('finds data: URLs however their scheme and type are written', () => {
    const url = 'DATA:Image/SVG+XML;x="y",%3Csvg/%3E';
    expect(findingsIn({ output: url }, []).media).toEqual([{ kind: 'image', url, name: 'image.svg' }]);
  });

  it('finds media in base64, beside their type or under the usual name', () => {
    expect(urls({ data: [{ b64_json: 'iVBORw0KGgo' }] }, ['image'])).toEqual([
      ['image', 'data:image/png;base64,iVBORw0KGgo'],
    ]);
    expect(urls({ inlineData: { mimeType: 'audio/wav', data: 'UklG' } })).toEqual([
      ['audio', 'data:audio/wav;base64,UklG'],
    ]);
  });

  it('makes nothing of markup, scripts and types that are no media', () => {
    const output = {
      html: '<script>alert(1)</script>',
      url: 'javascript:alert(1)',
      page: 'data:text/html,<script>alert(1)</script>',
      inlineData: { mimeType: 'text/html', data: 'PHNjcmlwdD4=' },
    };
    expect(findingsIn(output, ['image'])).toEqual({ media: [], texts: [] });
  });

  it('collects texts that are meant for people, and survives what is nested without end', () => {
    expect(findingsIn({ content: [{ type: 'text', text: 'Hello' }], id: 'x' }, ['text']).texts).toEqual([
      'Hello',
    ]);
    const loop: Record<string, unknown> = {};
    loop['again'] = loop;
    expect(findingsIn(loop, []).media).toEqual([]);
  });
});
