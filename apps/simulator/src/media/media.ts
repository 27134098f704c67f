import { readFileSync } from 'node:fs';
import path from 'node:path';
import { withoutTokens } from '../control.js';
import { simulatorFolder } from '../folder.js';
import type { Generation } from '../ledger/generation.js';
import { drawImage } from './image.js';
import { solid } from './solid.js';

interface MediaFile {
  type: string;
  bytes: Buffer;
}

const read = (name: string) => readFileSync(path.join(simulatorFolder, 'media', name));
/** Three seconds of drifting colours, H.264. */
const clip = read('clip.mp4');
/** Two seconds of three notes. */
const chime = read('chime.mp3');

/** A file of a generation, chosen by media type or file extension. Small, and playable in every browser. */
export function fileOf({ prompt }: Generation, name: string): MediaFile {
  const text = withoutTokens(prompt) || prompt;
  if (name.endsWith('mp4')) return { type: 'video/mp4', bytes: Buffer.concat([clip, box('free', text)]) };
  if (name.endsWith('mp3') || name.endsWith('mpeg')) return { type: 'audio/mpeg', bytes: chime };
  if (name.endsWith('glb')) return { type: 'model/gltf-binary', bytes: solid(text) };
  const number = Number.parseInt(name, 10);
  return { type: 'image/png', bytes: drawImage(text, Number.isNaN(number) ? 0 : number) };
}

/** An MP4 box that players skip. Makes the files of different prompts differ. */
function box(type: string, text: string): Buffer {
  const content = Buffer.from(text);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + content.length, 0);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, content]);
}
