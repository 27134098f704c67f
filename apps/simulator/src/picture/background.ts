import { createHash } from 'node:crypto';

// Steps instead of a continuous slope: broad bands compress to a tenth.
const steps = 48;

type Colour = [red: number, green: number, blue: number];

/**
 * Fills an RGBA image with a slope between two colours and three soft discs, all of them derived from `seed`:
 * the same prompt always looks the same, and two prompts look different.
 */
export function paintBackground(data: Buffer, width: number, height: number, seed: string): void {
  const hash = createHash('sha256').update(seed).digest();
  const byte = (index: number) => (hash[index] ?? 0) / 255;
  const hue = byte(0) * 360;
  const from = colour(hue, 0.55, 0.24);
  const to = colour(hue + 40 + byte(1) * 80, 0.6, 0.36);
  const discs = [2, 6, 10].map((at) => ({
    x: byte(at) * width,
    y: byte(at + 1) * height,
    radius: (0.25 + byte(at + 2) * 0.35) * height,
    glow: 14 + byte(at + 3) * 22,
  }));
  for (let y = 0; y < height; y += 1) {
    // Where this row enters and leaves each disc; outside of it the span is empty.
    const spans = discs.map((disc) => {
      const reach = disc.radius ** 2 - (y - disc.y) ** 2;
      const half = reach > 0 ? Math.sqrt(reach) : -1;
      return { from: disc.x - half, to: disc.x + half, glow: disc.glow };
    });
    for (let x = 0; x < width; x += 1) {
      const share = Math.round((0.7 * (x / width) + 0.3 * (y / height)) * steps) / steps;
      let light = 0;
      for (const span of spans) if (x > span.from && x < span.to) light += span.glow;
      const at = (y * width + x) * 4;
      data[at] = Math.min(255, from[0] + (to[0] - from[0]) * share + light);
      data[at + 1] = Math.min(255, from[1] + (to[1] - from[1]) * share + light);
      data[at + 2] = Math.min(255, from[2] + (to[2] - from[2]) * share + light);
      data[at + 3] = 255;
    }
  }
}

/** Hue in degrees, saturation and lightness from 0 to 1. */
function colour(hue: number, saturation: number, lightness: number): Colour {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const turn = (offset + hue / 30) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}
