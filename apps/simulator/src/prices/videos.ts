import { type Bill, flat, type Order, type PriceList } from './order.js';

type Options = Readonly<Record<string, number>>;

interface Seconds {
  usual: number;
  least?: number;
  most?: number;
  open?: number;
}

/** A rate per second that depends on the resolution. */
const perSecond =
  (
    seconds: Seconds,
    rates: Options,
    usual: string,
    places = { seconds: '/duration', lines: '/resolution' },
  ): Bill =>
  (order) =>
    order.units(places.seconds, seconds) * order.choice(places.lines, rates, usual);

/** The seconds of a video, or the sum over its shots. */
const shots = (order: Order): number =>
  order.units(
    [
      ['/duration', 1],
      ['/multi_prompt/*/duration', 1],
    ],
    { usual: 5, least: 3 },
  );

const klingVideo =
  (sound: number): Bill =>
  (order) => {
    const mode = order.choice('/mode', { std: 1, pro: 4 / 3 }, 'pro');
    const added = order.choice('/sound', { on: sound, off: 0 }, 'off');
    return shots(order) * ((order.has('/video_list') ? 0.126 : 0.084) * mode + added);
  };

const happyhorse = (most720: number, most1080: number): Bill =>
  wan({ usual: 5, least: 2, most: 15, open: 15 }, { '720P': most720, '1080P': most1080 });

const sizes = (small: number, middle: number, large: number): Options => ({
  '832*480': small,
  '1280*720': middle,
  '1920*1080': large,
});

function wan(
  seconds: Seconds,
  rates: Options,
  places: readonly string[] = ['/parameters/resolution', '/parameters/size'],
): Bill {
  const all = {
    ...sizes(rates['480P'] ?? rates['720P'] ?? 0, rates['720P'] ?? 0, rates['1080P'] ?? 0),
    ...rates,
  };
  return (order) => order.units('/parameters/duration', seconds) * order.choice(places, all, '1080P');
}

const wan25: Options = { '480P': 0.05, '720P': 0.1, '1080P': 0.15 };
const wan26: Options = { '720P': 0.1, '1080P': 0.15 };

const pixverse: Bill = (order) =>
  order.choice('/quality', { '360p': 0.45, '540p': 0.45, '720p': 0.6, '1080p': 1.2 }, '1080p') *
  order.choice('/duration', { 5: 1, 8: 2 }, '5') *
  order.choice('/motion_mode', { normal: 1, fast: 2 }, 'normal');

const hailuo =
  (rates: Readonly<Record<string, readonly [number, number]>>): Bill =>
  (order) => {
    const isLong = order.choice('/duration', { 6: 0, 10: 1 }, '6');
    return order.choice(
      '/resolution',
      Object.fromEntries(Object.entries(rates).map(([lines, usd]) => [lines, usd[isLong] ?? 0])),
      '768P',
    );
  };

const vidu =
  (seconds: Seconds, base: Options, each: Options): Bill =>
  (order) =>
    order.choice('/resolution', base, '720p') +
    order.units('/duration', seconds) * order.choice('/resolution', each, '720p') +
    (order.has('/is_rec') ? 0.05 : 0);

const viduTurbo: Bill = (order) => {
  const seconds = order.units('/duration', { usual: 5 });
  const small = seconds === 1 ? 0.04 : 0.05 * (seconds - 1);
  return (
    order.choice('/resolution', { '540p': small, '720p': small, '1080p': 0.125 + 0.05 * seconds }, '720p') +
    (order.has('/is_rec') ? 0.05 : 0)
  );
};

const veo =
  (rates: Options, sound: Options): Bill =>
  (order) => {
    const lines = order.choice('/parameters/resolution', rates, '720p');
    const heard = order.choice('/parameters/resolution', sound, '720p');
    const isHeard = order.choice('/parameters/generateAudio', { true: 1, false: 0 }, 'true');
    return (
      order.units('/parameters/sampleCount', { usual: 1 }) *
      order.units('/parameters/durationSeconds', { usual: 8, least: 4 }) *
      (lines + heard * isHeard)
    );
  };

const grok =
  (rates: Options, image: number): Bill =>
  (order) =>
    order.units('/duration', { usual: 8 }) * order.choice(['/resolution', '/size'], rates, '720p') +
    image * order.count('/image', '/reference_images');

const ltx = (rates: Options, usual: string): Bill => perSecond({ usual: 10, least: 2 }, rates, usual);

const grok15 = grok({ '480p': 0.08, '720p': 0.14, '1080p': 0.25 }, 0.01);

export const videos: PriceList = {
  'beeble/switchx': (order) =>
    order.choice('/max_resolution', { 720: 0.1, 1080: 0.3 }, '1080') *
    order.choice(
      '/generation_type',
      { image: 1, video: 4 * Math.max(1, order.count('/source_uri')) },
      'video',
    ),
  'bfl/flux-3-video': (order) => {
    const mode = order.choice('/mode', { t2v: 0, i2v: 0, draft_enhance: 1, v2v: 2 }, 't2v');
    const isOn = mode === 2;
    // Enhancing a draft renders it in full size.
    const made: Options = mode === 1 ? { hd: 0.29, fhd: 0.29 } : { hd: 0.17, fhd: 0.29 };
    const rates: Options = isOn ? { hd: 0.41, fhd: 0.53 } : made;
    const draft = order.choice('/draft', { true: isOn ? 0.12 / 0.41 : 0.06 / 0.17, false: 1 }, 'false');
    return perSecond({ usual: 10, least: 5, most: 20, open: 20 }, rates, 'hd')(order) * draft;
  },
  'bfl/video-edit-v1': flat(0.15),
  'bfl/video-upscale-v1': flat(1),
  'bria/video-edit-erase': flat(0.225),
  'bria/video-edit-*': flat(0.25),
  'fal/h3-max': perSecond({ usual: 5 }, { '480P': 0.05, '768P': 0.08 }, '768P'),
  'fal/h3-max-turbo': perSecond({ usual: 5 }, { '480P': 0.025, '768P': 0.04 }, '768P'),
  'fal/hailuo-02-*': perSecond({ usual: 6 }, { '512P': 0.017, '768P': 0.045 }, '768P'),
  'fal/kling-video-*': (order) => 0.28 * order.units('/duration', { usual: 5, least: 5 }),
  'fal/heygen-video-*': perSecond(
    { usual: 5, least: 5 },
    { '480p': 0.02, '768p': 0.02, '1080p': 0.06, '2k': 0.06 },
    '768p',
  ),
  'fal/kling-v4-*': (order) =>
    shots(order) * order.choice('/resolution', { '720p': 0.157, '1080p': 0.235 }, '1080p'),
  'fal/pixverse-*': (order) =>
    order.choice('/resolution', { '360p': 0.15, '540p': 0.15, '720p': 0.2, '1080p': 0.4 }, '720p') *
    order.choice('/duration', { 5: 1, 8: 2 }, '5'),
  'fal/veo-3.1': (order) =>
    order.choice('/duration', { '4s': 4, '6s': 6, '8s': 8 }, '8s') *
    order.choice('/generate_audio', { true: 0.4, false: 0.2 }, 'true'),
  'fal/veo-3.1-fast*': (order) =>
    order.choice('/duration', { '4s': 4, '6s': 6, '8s': 8 }, '8s') *
    order.choice('/generate_audio', { true: 0.15, false: 0.1 }, 'true'),
  'higgsfield/higgsfield-kling-3-4k': (order) => 0.42 * shots(order),
  'higgsfield/higgsfield-kling-3-pro': (order) => 0.168 * shots(order),
  'higgsfield/higgsfield-kling-3-std': (order) => 0.126 * shots(order),
  'higgsfield/higgsfield-kling-3-turbo': perSecond(
    { usual: 5, least: 3 },
    { '720p': 0.112, '1080p': 0.14 },
    '720p',
  ),
  'higgsfield/higgsfield-wan-3': perSecond(
    { usual: 5, least: 2 },
    { '480p': 0.05, '720p': 0.1, '1080p': 0.2 },
    '1080p',
  ),
  'kling/kling-3.0-turbo': (order) =>
    order.units(
      [
        ['/settings/duration', 1],
        ['/duration', 1],
      ],
      { usual: 5, least: 3, most: 15 },
    ) * order.choice('/settings/resolution', { '720p': 0.112, '1080p': 0.14 }, '720p'),
  'kling/kling-v1': (order) => shots(order) * order.choice('/mode', { std: 0.028, pro: 0.098 }, 'std'),
  'kling/kling-v2-5-turbo': (order) => order.choice('/duration', { 5: 0.35, 10: 0.7 }, '5'),
  'kling/kling-v2-6': (order) => shots(order) * order.choice('/sound', { on: 0.14, off: 0.07 }, 'off'),
  'kling/kling-v2-master': (order) => order.choice('/duration', { 5: 1.4, 10: 2.8 }, '5'),
  'kling/kling-v3': (order) =>
    shots(order) *
    order.choice('/mode', { std: 0.084, pro: 0.112 }, 'std') *
    order.choice('/sound', { on: 1.5, off: 1 }, 'off'),
  'kling/kling-v3-omni': klingVideo(0.028),
  'kling/kling-video-o1': klingVideo(0),
  'kling/videos-avatar-image2video': (order) => 10 * order.choice('/mode', { std: 0.056, pro: 0.112 }, 'std'),
  'kling/videos-lip-sync': flat(0.1),
  'kling/videos-video-extend': flat(0.28),
  'ltx/ltx-2-3-fast-*': ltx({ '1920x1080': 0.06, '2560x1440': 0.12, '3840x2160': 0.24 }, '3840x2160'),
  'ltx/ltx-2-3-pro-*': ltx({ '1920x1080': 0.08, '2560x1440': 0.16, '3840x2160': 0.32 }, '3840x2160'),
  'ltx/ltx-2-5-fast': ltx(
    { '1280x720': 0.09, '1920x1080': 0.13, '2560x1440': 0.19, '3840x2160': 0.3 },
    '3840x2160',
  ),
  'ltx/ltx-2-5-pro': ltx({ '1280x720': 0.12, '1920x1080': 0.17, '3840x2160': 0.39 }, '3840x2160'),
  'luma/ray-1-6': flat(0.35),
  'luma/ray-2': (order) =>
    order.choice('/resolution', { '540p': 0.3986, '720p': 0.7133, '1080p': 1.5874, '4k': 6.3706 }, '720p') *
    order.choice('/duration', { '5s': 1, '9s': 1.8 }, '5s'),
  'luma/ray-flash-2': (order) =>
    order.choice('/resolution', { '540p': 0.1399, '720p': 0.2378, '1080p': 0.5524, '4k': 2.1888 }, '720p') *
    order.choice('/duration', { '5s': 1, '9s': 1.8 }, '5s'),
  'minimax/hailuo-02': hailuo({ '512P': [0.1, 0.15], '768P': [0.28, 0.56], '1080P': [0.49, 0.49] }),
  'minimax/hailuo-2.3': hailuo({ '768P': [0.28, 0.56], '1080P': [0.49, 0.49] }),
  'minimax/hailuo-2.3-fast': hailuo({ '768P': [0.19, 0.32], '1080P': [0.33, 0.33] }),
  'minimax/*2v-01-director': flat(0.43),
  'minimax/minimax-h3': (order) =>
    (order.units('/duration', { usual: 5, least: 4, most: 15 }) +
      (order.has('/content/*/video_url') ? 2 : 0)) *
    order.choice('/resolution', { '768P': 0.09, '2K': 0.13 }, '2K'),
  'minimax/s2v-01': flat(0.65),
  'pixverse/*': pixverse,
  'pruna/p-video-2': (order) =>
    order.units('/input/duration', { usual: 5, most: 20 }) *
    order.choice('/input/resolution', { '720p': 0.025, '1080p': 0.05 }, '720p') *
    order.choice('/input/draft', { true: 0.6, false: 1 }, 'false'),
  'replicate/hailuo-02': perSecond(
    { usual: 6, least: 6 },
    { '512p': 0.025, '768p': 0.045, '1080p': 0.08 },
    '1080p',
  ),
  'runway/aleph2': flat(1.4),
  'runway/gen4_turbo': (order) => 0.05 * order.units('/duration', { usual: 10, least: 2 }),
  'synclabs/sync-3': (order) => 0.133 * 5 * Math.max(1, order.count('/input')),
  'veo/veo-3.1-fast-*': veo(
    { '720p': 0.08, '1080p': 0.1, '4k': 0.25 },
    { '720p': 0.02, '1080p': 0.02, '4k': 0.05 },
  ),
  'veo/veo-3.1-lite-*': veo({ '720p': 0.03, '1080p': 0.05 }, { '720p': 0.02, '1080p': 0.03 }),
  'veo/veo-3.1-*': veo({ '720p': 0.2, '1080p': 0.2, '4k': 0.4 }, { '720p': 0.2, '1080p': 0.2, '4k': 0.2 }),
  'vidu/2.0-image-to-video': (order) =>
    order.choice('/resolution', { '360p': 0.1, '720p': 0.2, '1080p': 0.5 }, '360p') *
      order.choice('/duration', { 4: 1, 8: 2.5 }, '4') +
    (order.has('/is_rec') ? 0.05 : 0),
  'vidu/q1-*': (order) => 0.4 + (order.has('/is_rec') ? 0.05 : 0),
  'vidu/q2-pro-*': vidu(
    { usual: 5 },
    { '540p': 0.025, '720p': 0.025, '1080p': 0.2 },
    { '540p': 0.05, '720p': 0.05, '1080p': 0.075 },
  ),
  'vidu/q2-text-to-video': vidu(
    { usual: 5 },
    { '540p': 0.05, '720p': 0.05, '1080p': 0.05 },
    { '540p': 0.025, '720p': 0.025, '1080p': 0.05 },
  ),
  'vidu/q2-turbo-*': viduTurbo,
  'vidu/q3-pro-*': vidu(
    { usual: 5 },
    { '540p': 0, '720p': 0, '1080p': 0 },
    { '540p': 0.15, '720p': 0.15, '1080p': 0.16 },
  ),
  'wan/happyhorse-1.0-*': happyhorse(0.14, 0.24),
  'wan/happyhorse-1.1-*': happyhorse(0.14, 0.18),
  'wan/wan2.5-i2v-preview': wan({ usual: 5, least: 5 }, wan25, ['/parameters/resolution']),
  'wan/wan2.5-t2v-preview': wan({ usual: 5, least: 5 }, wan25, ['/parameters/size']),
  'wan/wan2.6-i2v': wan({ usual: 5 }, wan26, ['/parameters/resolution']),
  'wan/wan2.6-t2v': wan({ usual: 5 }, wan26, ['/parameters/size']),
  'wan/wan2.6-r2v': wan({ usual: 5, least: 2, most: 15, open: 15 }, wan26),
  'wan/wan2.7-*': wan({ usual: 5, least: 2, most: 15, open: 15 }, { '720P': 0.1, '1080P': 0.15 }),
  'wan/wan3.0-video': wan(
    { usual: 5, least: 2, most: 30, open: 30 },
    { '480P': 0.05, '720P': 0.1, '1080P': 0.2 },
  ),
  'wan/wan3.0-video-prime': wan(
    { usual: 5, most: 30, open: 30 },
    { '480P': 0.068, '720P': 0.14, '1080P': 0.28 },
  ),
  'wavespeed/flashvsr': (order) =>
    order.units('/duration', { usual: 5, least: 5, step: 0 }) *
    order.choice('/target_resolution', { '720p': 0.012, '1080p': 0.018, '2k': 0.024, '4k': 0.032 }, '1080p'),
  'xai/grok-imagine-video': grok({ '480p': 0.05, '720p': 0.07 }, 0.002),
  'xai/grok-imagine-video-1.5*': grok15,
};
