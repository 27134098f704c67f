import type { Bill, Order, PriceList } from './order.js';

type Options = Readonly<Record<string, number>>;

interface Seconds {
  usual: number;
  least?: number;
  most?: number;
  open?: number;
}

/** ByteDance's tokens per second: the pixels of 24 frames, divided by 1,024. */
const tokensASecond: Options = { '480p': 10_050, '720p': 20_592, '1080p': 48_600, '4k': 194_400 };
/** The first generations don't offer 4k. */
const tokensOfFirst: Options = { '480p': 10_050, '720p': 20_592, '1080p': 48_600 };

const inPrompt = (place: string) => ({
  seconds: { in: place, names: ['dur', 'duration'] },
  frames: { in: place, names: ['frames'] },
  lines: { in: place, names: ['rs', 'resolution'] },
});

/** The first generations. Frames override seconds, and the prompt may name either, so this bills the larger. */
const seedance1 =
  (usdAToken: number, usual: string, sound: (order: Order) => number = () => 1): Bill =>
  (order) => {
    const flags = inPrompt('/content/*/text');
    const seconds = order.units('/duration', {
      usual: 5,
      least: 2,
      most: 12,
      open: 12,
      flags: flags.seconds,
    });
    const frames = order.units('/frames', { usual: 1, most: 289, flags: flags.frames });
    const tokens = order.choice('/resolution', tokensOfFirst, usual, flags.lines);
    return Math.max(seconds, frames / 24) * tokens * usdAToken * sound(order);
  };

/** Converts dollars per million tokens to dollars per second. */
const aSecond = (rates: Options): Options =>
  Object.fromEntries(
    Object.entries(rates).map(([lines, usd]) => [lines, (usd * (tokensASecond[lines] ?? 0)) / 1_000_000]),
  );

/** Rates per million tokens by resolution, without and with an input video, whose seconds are billed too. */
const seedance2 =
  (most: number, plain: Options, withVideo: Options): Bill =>
  (order) => {
    const flags = inPrompt('/content/*/text');
    const seconds = order.units('/duration', { usual: 5, least: 4, most, open: most, flags: flags.seconds });
    const isVideo = order.has('/content/*/video_url');
    const rate = order.choice('/resolution', aSecond(isVideo ? withVideo : plain), '720p', flags.lines);
    return (seconds + (isVideo ? 5 : 0)) * rate;
  };

/** The same models at other hosts, which take the prompt as a single text. */
const seedanceOf =
  (seconds: Seconds, rates: Options, usual = '720p'): Bill =>
  (order) =>
    order.units('/duration', { ...seconds, flags: inPrompt('/prompt').seconds }) *
    order.choice('/resolution', rates, usual, inPrompt('/prompt').lines);

const scaled = (rates: Options, by: number): Options =>
  Object.fromEntries(Object.entries(rates).map(([name, usd]) => [name, usd * by]));

const runwareSeedance: Bill = (order) => {
  const seconds = order.units('/duration', { usual: 5, most: 30 });
  const rates = { '480p': 0.1025, '720p': 0.2304, '1080p': 0.5184, '4k': 2.0736 };
  const lines = order.choice('/resolution', rates, '480p');
  const pixels = order.units('/width', { usual: 1 }) * order.units('/height', { usual: 1 });
  // The more expensive of size and resolution, because the list doesn't say which one wins.
  return order.units('/numberResults', { usual: 1 }) * seconds * Math.max(lines, (0.25 * pixels) / 1_000_000);
};

export const seedance: PriceList = {
  'byteplus/seedance-1-0-pro-fast-*': seedance1(0.000001, '1080p'),
  'byteplus/seedance-1-0-pro-*': seedance1(0.0000025, '1080p'),
  'byteplus/seedance-1-5-pro-*': seedance1(0.0000012, '720p', (order) =>
    order.choice('/generate_audio', { true: 2, false: 1 }, 'true'),
  ),
  'byteplus/dreamina-seedance-2-0-260128': seedance2(
    15,
    { '480p': 7, '720p': 7, '1080p': 7.7, '4k': 4 },
    { '480p': 4.3, '720p': 4.3, '1080p': 4.7, '4k': 2.4 },
  ),
  'byteplus/dreamina-seedance-2-0-fast-*': seedance2(
    15,
    { '480p': 5.6, '720p': 5.6 },
    { '480p': 3.3, '720p': 3.3 },
  ),
  'byteplus/dreamina-seedance-2-0-mini': seedance2(
    15,
    { '480p': 3.5, '720p': 3.5 },
    { '480p': 2.1, '720p': 2.1 },
  ),
  'byteplus/dreamina-seedance-2-5-*': seedance2(
    30,
    { '480p': 10.7, '720p': 10.7, '1080p': 11.7 },
    { '480p': 6.4, '720p': 6.4, '1080p': 7 },
  ),
  'fal/fal-seedance-2.0': seedanceOf(
    { usual: 5, least: 4, most: 15, open: 15 },
    { ...scaled(tokensASecond, 0.000014), '4k': 1.5552 },
  ),
  'fal/fal-seedance-2.5': seedanceOf(
    { usual: 5, least: 4, most: 30, open: 30 },
    { '480p': 0.21507, '720p': 0.44067, '1080p': 1.13724 },
  ),
  'fal/seedance-v1-pro-*': seedanceOf(
    { usual: 5, least: 2, most: 12 },
    { '480p': 0.025125, '720p': 0.05148, '1080p': 0.1215 },
    '1080p',
  ),
  'higgsfield/higgsfield-seedance-2.0': seedanceOf(
    { usual: 5, least: 4, most: 15 },
    { '480p': 0.136, '720p': 0.3024 },
  ),
  'higgsfield/higgsfield-seedance-2.5': seedanceOf(
    { usual: 5, least: 4, most: 30 },
    { '480p': 0.208, '720p': 0.4622 },
  ),
  'runware/runware-seedance-*': runwareSeedance,
  'wavespeed/wavespeed-seedance-2.0': seedanceOf(
    { usual: 5, least: 4, most: 15 },
    { '480p': 0.12, '720p': 0.24, '1080p': 0.6, '4k': 1.2 },
  ),
  'wavespeed/wavespeed-seedance-2.5': seedanceOf(
    { usual: 5, least: 4, most: 30 },
    { '480p': 0.18, '720p': 0.36, '1080p': 0.9, '4k': 1.8 },
  ),
};
