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
  'byteplus/seedance-1-0-pro-250528': { content: [{ text: prompt, type: 'text' }], service_tier: 'default' },
  'byteplus/seedance-1-5-pro-251215': {
    content: [{ text: prompt, type: 'text' }],
    duration: 5,
    ratio: '16:9',
    resolution: '720p',
  },
  'byteplus/seedream-4-0-250828': { prompt, response_format: 'url', watermark: false },
  'byteplus/seedream-4-5-251128': { prompt, sequential_image_generation: 'auto' },
  'elevenlabs/eleven_sfx_v2': { duration_seconds: 5, text: 'thunder' },
  'vertexai/gemini-3-pro-image': { contents: [{ parts: [{ text: prompt }], role: 'user' }] },
  'vertexai/gemini-3.1-flash-image': { contents: [{ parts: [{ text: prompt }], role: 'user' }] },
  'veo/veo-3.1-generate-001': video,
  'veo/veo-3.1-fast-generate-001': video,
  'ideogram/ideogram-v3': { prompt, rendering_speed: 'TURBO' },
  'ideogram/ideogram-v4': { rendering_speed: 'DEFAULT', text_prompt: prompt },
  'kling/kling-v2-master': { aspect_ratio: '16:9', duration: '5', mode: 'std', prompt },
  'kling/kling-v2-5-turbo': { duration: '5', image, mode: 'std', prompt },
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
  'recraft/recraftv3': { n: 1, prompt },
  'runway/gen4_image': { promptText: prompt, ratio: '1024:1024' },
  'runway/gen4_turbo': { promptImage: image, seed: 1, duration: 7, ratio: '1280:720' },
  'wan/wan2.5-t2i-preview': { input: { prompt }, parameters: { n: 1, size: '1280*1280' } },
  'beeble/switchx': {
    alpha_mode: 'auto',
    generation_type: 'image',
    max_resolution: 720,
    prompt,
    source_uri: image,
  },
  'bria/fibo': { images: ['iVBORw0KGgo='], instruction: prompt },
  'bria/image-edit-relight': { image, light_direction: 'side', light_type: 'midday' },
  'bria/image-edit-replace-background': { image, prompt },
  'bria/video-edit-erase': { auto_trim: true, mask: image, video: 'https://caller.example/leaf.mp4' },
  'freepik/ai-skin-enhancer-creative': { image },
  'heygen/starfish': { text: prompt, voice_id: 'v' },
  'higgsfield/higgsfield-kling-3-pro': {
    aspect_ratio: '16:9',
    cfg_scale: 0.5,
    duration: 5,
    prompt,
    sound: 'on',
  },
  'krea/krea-2': { aspect_ratio: '1:1', prompt, resolution: '1K' },
  'luma_2/uni-1': { prompt, type: 'image' },
  'pruna/p-video-2': {
    input: { aspect_ratio: '16:9', draft: false, duration: 2, fps: 24, prompt, resolution: '720p' },
  },
  'qwen/qwen-image-3.0-pro': { input: { messages: [{ content: [{ text: prompt }], role: 'user' }] } },
  'synclabs/sync-3': {
    input: [
      { type: 'video', url: 'https://caller.example/speaker.mp4' },
      { type: 'audio', url: 'https://caller.example/voice.wav' },
    ],
    options: { sync_mode: 'bounce' },
  },
  'wavespeed/seedvr2': { image, target_resolution: '4k' },
  'xai/grok-imagine-image': { n: 1, prompt },
  'xai/grok-imagine-video': { duration: 4, prompt },
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
