import { type Bill, flat, type Order, type PriceList } from './order.js';

const megapixels = (order: Order): number => {
  const side = (place: string) => order.units(place, { usual: 1024 });
  return Math.ceil((side('/width') * side('/height')) / 2 ** 20);
};

/** BFL bills the first megapixel, each further one, and each input image. */
const flux2 =
  (first: number, further: number, images: number): Bill =>
  (order) => {
    const given = Array.from({ length: images }, (_, n) =>
      n === 0 ? '/input_image' : `/input_image_${n + 1}`,
    );
    return first + further * Math.max(0, megapixels(order) - 1) + further * order.count(...given);
  };

const byNumber =
  (place: string, usd: number, usual = 1): Bill =>
  (order) =>
    usd * order.units(place, { usual });

const recraft =
  (usd: number, style = 0): Bill =>
  (order) =>
    usd * order.units('/n', { usual: 1 }) + (order.has('/style_reference_urls') ? style : 0);

/** An image costs twice as much in a vector style. A custom style may be one, so it is billed the same. */
const styled = (order: Order, vectors: readonly string[], usd: number): number => {
  const named = Object.fromEntries(vectors.map((style) => [style, usd * 2]));
  const drawn = order.choice('/style', { ...named, any: usd }, 'any');
  return order.has('/style_id') ? usd * 2 : drawn;
};

const gptQuality = { low: 0.006, medium: 0.053, high: 0.211, auto: 0.211 };

/** Seedream bills one image, or the maximum number of the sequence. */
const seedream =
  (usd: number): Bill =>
  (order) => {
    const most = order.units('/sequential_image_generation_options/max_images', { usual: 15, most: 15 });
    return (
      usd *
      (order.choice('/sequential_image_generation', { disabled: 0, auto: 1 }, 'disabled') === 1 ? most : 1)
    );
  };

const krea =
  (usd: number, style: number, board: number): Bill =>
  (order) =>
    usd + (order.has('/image_style_references') ? style : 0) + (order.has('/moodboards') ? board : 0);

const wavespeedGpt =
  (rates: Readonly<Record<string, readonly [number, number, number]>>, edit: number): Bill =>
  (order) => {
    const size = order.choice('/resolution', { '1k': 0, '2k': 1, '4k': 2 }, '1k');
    const options = Object.fromEntries(Object.entries(rates).map(([name, usd]) => [name, usd[size] ?? 0]));
    return order.choice('/quality', options, 'medium') + (order.has('/images') ? edit : 0);
  };
const wavespeedGpt25 = wavespeedGpt(
  {
    low: [0.01, 0.02, 0.03],
    medium: [0.024, 0.04, 0.07],
    high: [0.09, 0.15, 0.27],
    xhigh: [0.16, 0.27, 0.48],
    max: [0.36, 0.6, 1],
  },
  0.015,
);

const runwareBanana =
  (sizes: readonly [number, number, number], image: number): Bill =>
  (order) => {
    const pixels = order.units('/width', { usual: 1024 }) * order.units('/height', { usual: 1024 });
    const [small, middle, large] = sizes;
    const each = pixels <= 1024 ** 2 ? small : pixels <= 2048 ** 2 ? middle : large;
    const drawn = order.units('/numberResults', { usual: 1 });
    return drawn * each + image * order.count('/inputs/referenceImages/*');
  };

export const images: PriceList = {
  'bfl/erase-v1': flat(0.03),
  'bfl/flux-2-flex': flux2(0.05, 0.05, 8),
  'bfl/flux-2-klein-4b': flux2(0.014, 0.001, 4),
  'bfl/flux-2-klein-9b': flux2(0.015, 0.002, 4),
  'bfl/flux-2-max': flux2(0.07, 0.03, 9),
  'bfl/flux-2-pro': flux2(0.03, 0.015, 9),
  'bfl/flux-2-pro-preview': flux2(0.03, 0.015, 8),
  'bfl/flux-3-image': (order) =>
    order.choice('/resolution', { '768sq': 0.041, '1k': 0.048, '1.5k': 0.07, '2k': 0.1, '4k': 0.607 }, '1k'),
  'bfl/flux-dev': flat(0.025),
  'bfl/flux-kontext-max': flat(0.08),
  'bfl/flux-kontext-pro': flat(0.04),
  'bfl/flux-pro-1.0-*': flat(0.05),
  'bfl/flux-pro-1.1': flat(0.04),
  'bfl/flux-pro-1.1-ultra': flat(0.06),
  'bfl/vto-v1': flat(0.0375),
  'bria/image-edit-erase': flat(0.02),
  'bria/image-edit-expand': flat(0.02),
  'bria/image-edit-gen-fill': flat(0.03),
  'bria/image-edit-increase-resolution': flat(0.02),
  'bria/image-edit-remove-background': flat(0.018),
  'bria/image-edit-*': flat(0.04),
  'bria/fibo': flat(0.04),
  'bria/structured-instruction': flat(0.04),
  'byteplus/seedream-4-0-*': seedream(0.03),
  'byteplus/seedream-4-5-*': seedream(0.04),
  'byteplus/seedream-5-0-260128': seedream(0.035),
  'byteplus/seedream-5-0-flash-*': seedream(0.018),
  'byteplus/seedream-5-5-*': (order) =>
    order.choice('/size', { '1K': 0.02, '1.5K': 0.02, '2K': 0.035, '2048x2048': 0.035 }, '2K') +
    0.008 * order.count('/image'),
  'byteplus/seedream-5-0-pro-*': (order) =>
    seedream(order.choice('/size', { '1K': 0.045, '2K': 0.09, '4K': 0.09 }, '2K'))(order) *
    order.choice('/layer_decomposition', { true: 0.5, false: 1 }, 'false'),
  'fal/crystal-upscaler': (order) => 0.016 * order.units('/scale_factor', { usual: 2, step: 0 }) ** 2,
  'fal/fal-gpt-image-*': (order) =>
    order.units('/num_images', { usual: 1 }) * order.choice('/quality', gptQuality, 'high'),
  'fal/fal-nano-banana-2': (order) =>
    order.units('/num_images', { usual: 1 }) *
      order.choice('/resolution', { '0.5K': 0.06, '1K': 0.08, '2K': 0.12, '4K': 0.16 }, '1K') +
    (order.has('/enable_web_search') ? 0.015 : 0),
  'fal/fal-nano-banana-pro': (order) =>
    order.units('/num_images', { usual: 1 }) *
      order.choice('/resolution', { '1K': 0.15, '2K': 0.15, '4K': 0.3 }, '1K') +
    (order.has('/enable_web_search') ? 0.015 : 0),
  'fal/flux-dev': (order) => {
    const side = (place: string) => order.units(place, { usual: 1024 });
    const pixels = side('/image_size/width') * side('/image_size/height');
    return 0.025 * Math.ceil(pixels / 2 ** 20) * order.units('/num_images', { usual: 1 });
  },
  'fal/qwen-image-edit': (order) => {
    const side = (place: string) => order.units(place, { usual: 1024 });
    const pixels = side('/image_size/width') * side('/image_size/height');
    return 0.03 * Math.ceil(pixels / 2 ** 20) * order.units('/num_images', { usual: 1 });
  },
  'fal/flux-pro-kontext': byNumber('/num_images', 0.04),
  'fal/nano-banana*': byNumber('/num_images', 0.0398),
  'fal/patina': flat(0.01),
  'fal/recraft-v3': (order) => styled(order, ['vector_illustration', 'vector_illustration/line_art'], 0.04),
  'fal/seedream-v4': (order) =>
    0.03 * order.units('/num_images', { usual: 1 }) * order.units('/max_images', { usual: 1 }),
  'freepik/ai-image-relight': flat(0.11),
  'freepik/ai-image-style-transfer': flat(0.11),
  'freepik/ai-image-upscaler-precision-v2': (order) =>
    // Prices per doubling, for an image of one megapixel.
    order.choice('/scale_factor', { 2: 0.17, 4: 0.68, 8: 2.72, 16: 4.76 }, '2'),
  'freepik/ai-skin-enhancer-creative': flat(0.29),
  'freepik/ai-skin-enhancer-faithful': flat(0.37),
  'freepik/ai-skin-enhancer-flexible': flat(0.45),
  'ideogram/ideogram-4-5': (order) =>
    order.units('/num_images', { usual: 1 }) *
    (order.has('/image', '/images')
      ? order.choice('/quality', { very_low: 0.008, low: 0.03, medium: 0.06, high: 0.22 }, 'medium')
      : order.choice('/quality', { low: 0.03, medium: 0.06, high: 0.1 }, 'high')),
  'ideogram/ideogram-v3': (order) =>
    order.units('/num_images', { usual: 1 }) *
    order.choice('/rendering_speed', { TURBO: 0.03, DEFAULT: 0.06, QUALITY: 0.09 }, 'DEFAULT'),
  'ideogram/ideogram-v4': (order) =>
    order.choice('/rendering_speed', { TURBO: 0.03, DEFAULT: 0.06, QUALITY: 0.1 }, 'DEFAULT'),
  'ideogram/p-image-ideogram': (order) =>
    order.choice('/quality', { VERY_LOW: 0.003, LOW: 0.0075, MEDIUM: 0.01, HIGH: 0.015 }, 'MEDIUM') *
    order.choice('/resolution', { '1K': 1, '2K': 2 }, '1K'),
  'kling/kling-image-o1': (order) =>
    order.units('/n', { usual: 1 }) *
    order.choice('/resolution', { '1k': 0.028, '2k': 0.028, '4k': 0.056 }, '1k'),
  'kling/kling-v2-image': (order) => order.units('/n', { usual: 1 }) * (order.has('/image') ? 0.028 : 0.014),
  'krea/krea-2-large': krea(0.06, 0.005, 0.01),
  'krea/krea-2-medium-turbo': krea(0.015, 0.0025, 0.005),
  'krea/krea-2*': krea(0.03, 0.005, 0.01),
  'luma/photon-1': flat(0.0152),
  'luma/photon-flash-1': flat(0.004),
  'luma_2/uni-1': (order) =>
    order.choice('/type', { image: 0.0404, image_edit: 0.0434 }, 'image') +
    0.003 * Math.min(9, order.count('/image_ref')),
  'luma_2/uni-1-max': (order) =>
    order.choice('/type', { image: 0.1, image_edit: 0.103 }, 'image') +
    0.003 * Math.min(9, order.count('/image_ref')),
  'openai/gpt-image-1-mini': (order) =>
    order.units('/n', { usual: 1 }) *
    order.choice('/quality', { low: 0.005, medium: 0.011, high: 0.036, auto: 0.036 }, 'auto') *
    order.choice('/size', { '1024x1024': 1, '1536x1024': 1.44, '1024x1536': 1.44 }, '1536x1024'),
  'openai/gpt-image-1.5': (order) =>
    order.units('/n', { usual: 1 }) *
    order.choice('/quality', { low: 0.009, medium: 0.034, high: 0.133, auto: 0.133 }, 'auto') *
    order.choice('/size', { '1024x1024': 1, '1536x1024': 1.5, '1024x1536': 1.5 }, '1536x1024'),
  'openai/gpt-image-2*': (order) =>
    order.units('/n', { usual: 1 }) * order.choice('/quality', gptQuality, 'auto'),
  // Tokens of pictures of 1536x1024 and 4K, and of a picture of 1024x1024 whose quality the model chose.
  'openai/gpt-image-2.6-*': (order) =>
    order.units('/n', { usual: 1 }) *
    order.choice('/quality', { low: 664, medium: 1353, high: 3337, auto: 5800 }, 'auto') *
    0.00003,
  'qwen/qwen-image-3.0': byNumber('/parameters/n', 0.03),
  'qwen/qwen-image-3.0-pro': byNumber('/parameters/n', 0.075),
  'recraft/creative-upscale': flat(0.25),
  'recraft/crisp-upscale': flat(0.004),
  'recraft/remove-background': flat(0.01),
  'recraft/vectorize': flat(0.01),
  'recraft/recraft-v2-vector': recraft(0.044, 0.04),
  'recraft/recraft-v3-image-to-image': recraft(0.04),
  'recraft/recraft-v3-vector': recraft(0.08, 0.04),
  'recraft/recraftv2': (order) =>
    recraft(styled(order, ['Vector art', 'Linocut', 'vector_illustration', 'icon'], 0.022), 0.04)(order),
  'recraft/recraftv3': (order) =>
    recraft(styled(order, ['Vector art', 'Line art', 'vector_illustration'], 0.04), 0.04)(order),
  'recraft/recraftv4': recraft(0.04, 0.005),
  'recraft/recraft-v4-vector': recraft(0.08, 0.005),
  'recraft/recraftv4_pro': recraft(0.25, 0.005),
  'recraft/recraftv4_1*_pro_vector': recraft(0.3, 0.005),
  'recraft/recraftv4_1*_vector': recraft(0.08, 0.005),
  'recraft/recraftv4_1*_pro': recraft(0.21, 0.005),
  'recraft/recraftv4_1*': recraft(0.035, 0.005),
  'recraft/recraftv4_styles_pro_vector': recraft(0.12, 0.005),
  'recraft/recraftv4_styles_vector': recraft(0.05, 0.005),
  'recraft/recraftv4_styles_pro': recraft(0.1, 0.005),
  'recraft/recraftv4_styles': recraft(0.035, 0.005),
  'replicate/flux-1.1-pro': flat(0.04),
  'replicate/flux-1.1-pro-ultra': flat(0.06),
  'replicate/flux-dev': byNumber('/num_outputs', 0.025),
  'replicate/flux-schnell': byNumber('/num_outputs', 0.003),
  'replicate/ideogram-v3-turbo': flat(0.03),
  'runware/runware-gpt-image-*': (order) =>
    order.units('/numberResults', { usual: 1 }) *
    order.choice('/providerSettings/openai/quality', gptQuality, 'auto'),
  'runware/runware-nano-banana-2': runwareBanana([0.069, 0.103, 0.153], 0.00028),
  'runware/runware-nano-banana-pro': runwareBanana([0.138, 0.138, 0.24], 0.0011),
  'runway/gen4_image': (order) =>
    order.choice(
      '/ratio',
      { '1280:720': 0.05, '720:1280': 0.05, '720:720': 0.05, '1920:1080': 0.08 },
      '1920:1080',
    ),
  'stability/sd3.5-large': flat(0.065),
  'stability/sd3.5-large-turbo': flat(0.04),
  'stability/sd3.5-medium': flat(0.035),
  'stability/stable-image-core': flat(0.03),
  'stability/stable-image-ultra': flat(0.08),
  'stability/upscale-creative': flat(0.6),
  'stability/upscale-fast': flat(0.02),
  'wan/wan2.5-*2i-preview': byNumber('/parameters/n', 0.03, 4),
  'wavespeed/seedvr2': flat(0.01),
  'wavespeed/ultimate-image-upscaler': flat(0.06),
  'wavespeed/wavespeed-gpt-image-2': wavespeedGpt(
    { low: [0.01, 0.02, 0.03], medium: [0.06, 0.1, 0.18], high: [0.22, 0.4, 0.72] },
    0.01,
  ),
  'wavespeed/wavespeed-gpt-image-2.5-*': wavespeedGpt25,
  'wavespeed/wavespeed-nano-banana-2': (order) =>
    order.choice('/resolution', { '0.5k': 0.07, '1k': 0.07, '2k': 0.105, '4k': 0.1575 }, '1k'),
  'wavespeed/wavespeed-nano-banana-pro': (order) =>
    order.choice('/resolution', { '1k': 0.14, '2k': 0.14, '4k': 0.24 }, '1k'),
  'xai/grok-imagine-image': byNumber('/n', 0.02),
  'xai/grok-imagine-image-2.0': (order) =>
    order.units('/n', { usual: 1 }) *
    (0.04 +
      order.choice('/quality', { low: 0, medium: 0.02, high: 0.02 }, 'medium') +
      order.choice(['/resolution', '/size'], { '1k': 0, '2k': 0.02 }, '1k')),
  'xai/grok-imagine-image-pro': byNumber('/n', 0.07),
  'xai/grok-imagine-image-quality': (order) =>
    order.units('/n', { usual: 1 }) *
    order.choice(['/resolution', '/size'], { '1k': 0.05, '2k': 0.07 }, '1k'),
};
