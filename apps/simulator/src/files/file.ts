import { withoutTokens } from '../control.js';
import type { Generation } from '../ledger/generation.js';
import { clipOf } from '../picture/clip.js';
import { drawPicture } from '../picture/picture.js';
import { shape } from './shape.js';
import { silence } from './silence.js';

interface MediaFile {
  type: string;
  bytes: Buffer;
}

/** A file of a generation, by the ending of its name: a clip, a sound, a shape, else a picture of what was asked for. */
export function fileOf(generation: Generation, name: string): MediaFile {
  const text = withoutTokens(generation.prompt) || generation.prompt;
  switch (name.slice(name.lastIndexOf('.') + 1)) {
    case 'mp4':
      return { type: 'video/mp4', bytes: clipOf(text) };
    case 'mp3':
      return { type: 'audio/mpeg', bytes: silence() };
    case 'glb':
      return { type: 'model/gltf-binary', bytes: shape() };
    default: {
      const number = Number.parseInt(name, 10);
      const caption = `${generation.provider}/${generation.model}`;
      const variant = Number.isNaN(number) ? 0 : number;
      return { type: 'image/png', bytes: drawPicture({ text, caption, variant }) };
    }
  }
}
