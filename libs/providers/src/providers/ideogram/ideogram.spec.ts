import { describe, expect, it } from '@jest/globals';
import { providerOf } from '../../testing/provider-of.js';

const ideogram = providerOf('ideogram').create('https://api.ideogram.ai', {});
const submit = (input: object, edit: string) =>
  ideogram.submit({
    runId: '0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f',
    model: 'ideogram/ideogram-4-5',
    upstream: { path: 'v2/image/generate/ideogram-4-5', edit },
    body: Buffer.from(JSON.stringify(input)),
  });

describe('Ideogram 4.5', () => {
  it('sends text as JSON', () => {
    const call = submit({ prompt: 'a' }, 'v2/image/generate/ideogram-4-5');
    expect(call.url).toBe('https://api.ideogram.ai/v2/image/generate/ideogram-4-5');
    expect(call.headers?.['content-type']).toBe('application/json');
  });

  it('sends an edit as a form with its images as files, to the URL for that kind of edit', () => {
    const image = 'data:image/png;base64,iVBORw0KGgo=';
    const input = { prompt: 'a', image, reference_images: [image, image], num_images: 2 };
    const call = submit(input, 'v2/image/precise-edit/ideogram-4-5');
    expect(call.url).toBe('https://api.ideogram.ai/v2/image/precise-edit/ideogram-4-5');
    const sent = Buffer.from(call.body ?? []).toString('latin1');
    expect(sent.match(/name="reference_images"; filename=/g)).toHaveLength(2);
    expect(sent).toMatch(/name="image"; filename="image\.png"\r\nContent-Type: image\/png\r\n\r\n\x89PNG/);
    expect(sent).toContain('name="num_images"\r\n\r\n2\r\n');
  });
});
