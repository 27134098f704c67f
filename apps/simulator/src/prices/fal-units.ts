import { Order } from './order.js';
import { billOf } from './price-list.js';

/**
 * The endpoints of fal, by the beginning of their path: the id in the price list, and the dollars of one billable unit by
 * fal's pricing API. Resolution, sound and quality change the number of units, not their price.
 */
const endpoints: Readonly<Record<string, readonly [id: string, usd: number]>> = {
  'bytedance/seedance-2.0': ['fal/fal-seedance-2.0', 0.014],
  'bytedance/seedance-2.5': ['fal/fal-seedance-2.5', 0.014],
  'clarityai/crystal-upscaler': ['fal/crystal-upscaler', 0.016],
  'fal-ai/bytedance/seedance/v1/pro': ['fal/seedance-v1-pro-text-to-video', 2.5],
  'fal-ai/bytedance/seedream/v4': ['fal/seedream-v4', 0.03],
  'fal-ai/flux/dev': ['fal/flux-dev', 0.025],
  'fal-ai/flux-pro/kontext': ['fal/flux-pro-kontext', 0.04],
  'fal-ai/kling-video/v2.1/master': ['fal/kling-video-v2.1-master-text-to-video', 0.28],
  'fal-ai/minimax/hailuo-02/standard': ['fal/hailuo-02-standard-image-to-video', 0.045],
  'fal-ai/nano-banana': ['fal/nano-banana', 0.0398],
  'fal-ai/nano-banana-2': ['fal/fal-nano-banana-2', 0.08],
  'fal-ai/nano-banana-pro': ['fal/fal-nano-banana-pro', 0.15],
  'fal-ai/patina': ['fal/patina', 0.01],
  'fal-ai/pixverse/v3.5': ['fal/pixverse-v3.5-text-to-video', 0.2],
  'fal-ai/qwen-image-edit': ['fal/qwen-image-edit', 0.03],
  'fal-ai/recraft/v3': ['fal/recraft-v3', 0.04],
  'fal-ai/veo3.1': ['fal/veo-3.1', 0.4],
  'fal-ai/veo3.1/fast': ['fal/veo-3.1-fast', 0.15],
  'heygen/heygen-video': ['fal/heygen-video-text-to-video', 0.02],
  'kling/v4': ['fal/kling-v4-text-to-video', 0.157],
  'minimax/h3-max': ['fal/h3-max', 0.05],
  'minimax/h3-max-turbo': ['fal/h3-max-turbo', 0.025],
  'openai/gpt-image-2': ['fal/fal-gpt-image-2', 1],
  'openai/gpt-image-2.5': ['fal/fal-gpt-image-2.5', 1],
};

/** The units that fal bills for a submission. One if the endpoint is not in the list. */
export function falUnits(path: string, body: Buffer): number {
  const [name = ''] = Object.keys(endpoints)
    .filter((each) => path === each || path.startsWith(`${each}/`))
    .sort((one, other) => other.length - one.length);
  const [id = '', usd = 1] = endpoints[name] ?? [];
  const bill = billOf(id);
  if (bill === undefined) return 1;
  const units = bill(new Order(JSON.parse(body.toString()) as ConstructorParameters<typeof Order>[0])) / usd;
  return Number(units.toPrecision(9));
}
