import { describe, expect, it } from '@jest/globals';

import { readReply } from '../../read-reply.js';
import { replyOf } from '../../testing/fixtures.js';
import { providerOf } from '../../testing/provider-of.js';

const fal = providerOf('fal');
const adapter = fal.create(fal.defaultBase, {});
const handle = {
  v: 1,
  step: 'fetch',
  statusUrl: 'https://queue.fal.run/a/b/requests/7/status',
  responseUrl: 'https://queue.fal.run/a/b/requests/7',
} as const;

const fetched = (assets: string[], body: unknown) =>
  readReply(adapter, { phase: 'resume', handle, reported: [], assets }, replyOf(200, JSON.stringify(body)))
    .outcome;

describe('an output of fal', () => {
  const images = ['/images/*/url'];
  const videos = ['/video/url'];
  const link = 'https://v3.fal.media/files/a';

  it.each<[string[], unknown]>([
    [images, { images: [{ url: link }] }],
    [images, { images: [{ url: 'data:image/png;base64,AA==' }] }],
    [images, { images: [{ url: '' }, { url: link }] }],
    [videos, { video: { url: link }, error: 'of the model’s own' }],
    [[], { text: 'a caption' }],
  ])('whose row names %j is a result with %j', (assets, body) => {
    expect(fetched(assets, body)).toMatchObject({ kind: 'succeeded' });
  });

  it.each<[string[], unknown]>([
    [images, { images: [] }],
    [images, { images: [{ url: '' }] }],
    [images, { images: [{ url: null }], has_nsfw_concepts: [true] }],
    [images, { images: [{ url: 'data:image/png;base64,' }] }],
    [images, { seed: 1 }],
    [images, { detail: 'Something went wrong' }],
    [videos, { images: [{ url: link }] }],
    [videos, { video: null }],
    [[], {}],
    // Replies of imported rows with the required members alone.
    [videos, { request_id: 'r' }],
    [['/model_glb/url'], { model_urls: {} }],
    [['/image/url'], { results: { bboxes: [], labels: [] } }],
  ])('whose row names %j is a result without files with %j', (assets, body) => {
    expect(fetched(assets, body)).toMatchObject({
      kind: 'succeeded',
      lacksFiles: true,
      surprise: { kind: 'no_files' },
    });
  });

  it('is fetched again while the request is in progress, whatever the status', () => {
    expect(fetched(images, { detail: 'Request is still in progress' })).toMatchObject({
      kind: 'failed',
      failure: { class: 'provider_failed', retry: 'same_call', capped: true },
    });
  });
});
