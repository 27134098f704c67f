import { createHash } from 'node:crypto';
import { PNG } from 'pngjs';

const size = { width: 512, height: 320 };
const keptImages = 64;
const recent = new Map<string, Buffer>();

/**
 * Draws a gradient between two colours derived from the text and the number: the same prompt always looks the same;
 * different prompts, and several images of one prompt, look different. Caches the latest images.
 */
export function drawImage(text: string, number: number): Buffer {
  const seed = `${text} ${number}`;
  const known = recent.get(seed);
  if (known) return known;
  const hash = createHash('sha256').update(seed).digest();
  const png = new PNG(size);
  for (let at = 0; at < png.data.length; at += 4) {
    const column = (at / 4) % size.width;
    // Broad bands instead of a smooth gradient, because they compress to a tenth of the size.
    const share =
      Math.round((48 * (column + (at / 4 - column) / size.width)) / (size.width + size.height)) / 48;
    for (let channel = 0; channel < 3; channel += 1) {
      const [from = 0, to = 0] = [hash[channel], hash[channel + 3]];
      png.data[at + channel] = from + (to - from) * share;
    }
    png.data[at + 3] = 255;
  }
  const bytes = PNG.sync.write(png, { colorType: 6, deflateLevel: 3, deflateStrategy: 0, filterType: 2 });
  recent.set(seed, bytes);
  const [oldest] = recent.keys();
  if (recent.size > keptImages && oldest !== undefined) recent.delete(oldest);
  return bytes;
}
