import { PNG } from 'pngjs';
import { paintBackground } from './background.js';
import { drawable, eachDot, glyphAdvance } from './font.js';
import { fit } from './layout.js';
import { pictureSize } from './size.js';

const margin = 32;
const footer = 44;

/** What a picture shows. `variant` tells several pictures of one prompt apart. */
interface Subject {
  text: string;
  caption: string;
  variant: number;
}

const recent = new Map<string, Buffer>();
const keptPictures = 64;

/** A PNG that shows the prompt on a background of its own; the latest ones are kept for the next fetch. */
export function drawPicture(subject: Subject): Buffer {
  const key = JSON.stringify(subject);
  const known = recent.get(key);
  if (known) return known;
  const bytes = draw(subject);
  recent.set(key, bytes);
  const [oldest] = recent.keys();
  if (recent.size > keptPictures && oldest !== undefined) recent.delete(oldest);
  return bytes;
}

function draw({ text, caption, variant }: Subject): Buffer {
  const { width, height } = pictureSize;
  const png = new PNG({ width, height });
  paintBackground(png.data, width, height, `${text} ${variant}`);
  const box = { width: width - 2 * margin, height: height - 2 * margin - footer };
  const { scale, lines } = fit(drawable(text), box, glyphAdvance, [5, 4, 3, 2]);
  const pitch = glyphAdvance.rows * scale;
  const top = margin + Math.floor((box.height - lines.length * pitch) / 2);
  for (const [index, line] of lines.entries()) {
    const y = top + index * pitch;
    write(png, line, margin + scale, y + scale, scale, { tone: 0, cover: 0.45 });
    write(png, line, margin, y, scale, { tone: 255, cover: 1 });
  }
  const footY = height - footer;
  fill(png, margin, footY - 8, width - 2 * margin, 2, { tone: 255, cover: 0.35 });
  const columns = Math.floor(box.width / (glyphAdvance.columns * 2));
  write(png, drawable(caption).slice(0, columns), margin, footY + 8, 2, { tone: 255, cover: 0.8 });
  return PNG.sync.write(png, { colorType: 6, deflateLevel: 3, deflateStrategy: 0, filterType: 2 });
}

interface Ink {
  /** Grey from 0 to 255, and how much of the background it covers, from 0 to 1. */
  tone: number;
  cover: number;
}

function write(png: PNG, line: string, left: number, top: number, scale: number, ink: Ink): void {
  for (let index = 0; index < line.length; index += 1) {
    const x = left + index * glyphAdvance.columns * scale;
    eachDot(line.charAt(index), (column, row) =>
      fill(png, x + column * scale, top + row * scale, scale, scale, ink),
    );
  }
}

function fill(
  png: PNG,
  left: number,
  top: number,
  width: number,
  height: number,
  { tone, cover }: Ink,
): void {
  for (let y = top; y < Math.min(top + height, png.height); y += 1)
    for (let x = left; x < Math.min(left + width, png.width); x += 1) {
      const at = (y * png.width + x) * 4;
      for (let channel = at; channel < at + 3; channel += 1)
        png.data[channel] = (png.data[channel] ?? 0) * (1 - cover) + tone * cover;
    }
}
