import { beforeAll, describe, expect, it } from '@jest/globals';
import { inputErrors } from './check-input.js';
import { type Catalog, loadCatalog } from './index.js';

const prompt = 'a red leaf';
const image = 'https://caller.example/leaf.png';
const video = {
  instances: [{ prompt }],
  parameters: { durationSeconds: 4, generateAudio: false, sampleCount: 1 },
};

/** Inputs of the shape that hosted routers publish for the same models: none names its model. */
const published: Record<string, object> = {
  'bfl/flux-2-max': { prompt },
  'bfl/flux-2-pro': { prompt },
  'bfl/flux-kontext-max': { prompt },
  'bfl/flux-kontext-pro': { prompt, input_image: image },
  'bfl/flux-pro-1.0-expand': { image: 'iVBORw0KGgo=', prompt, top: 64 },
  'bfl/flux-pro-1.0-fill': { image: 'iVBORw0KGgo=', mask: 'iVBORw0KGgo=', prompt },
  'bfl/flux-pro-1.1': { height: 768, prompt, width: 1024 },
  'bfl/flux-pro-1.1-ultra': { aspect_ratio: '16:9', prompt },
  'bytedance/seedance-1.0-pro': { content: [{ text: prompt, type: 'text' }], service_tier: 'default' },
  'bytedance/seedance-1.5-pro': {
    content: [{ text: prompt, type: 'text' }],
    duration: 5,
    ratio: '16:9',
    resolution: '720p',
  },
  'bytedance/seedream-4.0': { prompt, response_format: 'url', watermark: false },
  'bytedance/seedream-4.5': { prompt, sequential_image_generation: 'auto' },
  'elevenlabs/sound-effects': { duration_seconds: 5, text: 'thunder' },
  'google/gemini-3-pro-image': { contents: [{ parts: [{ text: prompt }], role: 'user' }] },
  'google/gemini-3.1-flash-image': { contents: [{ parts: [{ text: prompt }], role: 'user' }] },
  'google/veo-3.1': video,
  'google/veo-3.1-fast': video,
  'ideogram/ideogram-v3': { prompt, rendering_speed: 'TURBO' },
  'ideogram/ideogram-v4': { rendering_speed: 'DEFAULT', text_prompt: prompt },
  'kling/kling-v2-master-text-to-video': { aspect_ratio: '16:9', duration: '5', mode: 'std', prompt },
  'kling/kling-v2.5-turbo-text-to-video': { duration: '5', mode: 'pro', prompt },
  'kling/kling-v2.5-turbo-image-to-video': { duration: '5', image, mode: 'std', prompt },
  'luma/photon-flash-1': { aspect_ratio: '1:1', prompt },
  'luma/ray-2': { aspect_ratio: '16:9', duration: '5s', prompt, resolution: '540p' },
  'luma/ray-flash-2': { aspect_ratio: '16:9', duration: '5s', prompt, resolution: '540p' },
  'meshy/remesh': {
    input_task_id: '0193abcd-0000-0000-0000-000000000000',
    origin_at: 'bottom',
    resize_height: 1,
    target_formats: ['glb', 'fbx'],
    target_polycount: 50_000,
    topology: 'quad',
  },
  'meshy/text-to-3d-preview': { art_style: 'realistic', mode: 'preview', prompt },
  'openai/gpt-image-1.5': { prompt, quality: 'low', size: '1024x1024' },
  'openai/gpt-image-2': { prompt, quality: 'low', size: '1024x1024', image: [image] },
  'recraft/recraft-v3': { n: 1, prompt },
  'runway/gen4-image': { promptText: prompt, ratio: '1024:1024' },
  'runway/gen4-turbo': { promptImage: image, seed: 1, duration: 7, ratio: '1280:720' },
  'wan/wan2.5-text-to-image': { input: { prompt }, parameters: { n: 1, size: '1280*1280' } },
};

describe('an input that runs at a hosted router', () => {
  let catalog: Catalog;
  beforeAll(async () => {
    catalog = await loadCatalog();
  });

  it.each(Object.entries(published))('runs %s here', (id, input) => {
    const model = catalog.models.find((each) => each.id === id);
    expect(model && inputErrors(model, input)).toEqual([]);
  });
});
