import { withoutTokens } from '../control.js';
import type { Generation } from '../ledger/generation.js';
import { drawImage } from './image.js';

interface MediaFile {
  type: string;
  bytes: Buffer;
}

/** A file of a generation by its media type, or by the ending of its name. What plays it finds nothing but silence. */
export function fileOf({ prompt }: Generation, name: string): MediaFile {
  const text = withoutTokens(prompt) || prompt;
  if (name.endsWith('mp4')) return { type: 'video/mp4', bytes: emptyVideo(text) };
  if (name.endsWith('mp3') || name.endsWith('mpeg')) return { type: 'audio/mpeg', bytes: silence() };
  if (name.endsWith('glb')) return { type: 'model/gltf-binary', bytes: emptyModel() };
  const number = Number.parseInt(name, 10);
  return { type: 'image/png', bytes: drawImage(text, Number.isNaN(number) ? 0 : number) };
}

/** The smallest file that sniffs as MP4: a type box, the text in a box that players skip, and no media. */
function emptyVideo(text: string): Buffer {
  const brands = [Buffer.from('isom'), Buffer.from([0, 0, 2, 0]), Buffer.from('isomiso2mp41')];
  return Buffer.concat([
    box('ftyp', Buffer.concat(brands)),
    box('free', Buffer.from(text)),
    box('mdat', Buffer.alloc(0)),
  ]);
}

function box(type: string, content: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + content.length, 0);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, content]);
}

/** Frames of MPEG-1 layer III, 128 kbit/s, 44.1 kHz, whose side information says that nothing sounds: 0.1 s. */
function silence(): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xfffb9000);
  return Buffer.concat(Array.from({ length: 4 }, () => frame));
}

/** A glTF 2.0 file in binary form that holds an empty scene. */
function emptyModel(): Buffer {
  const scene = JSON.stringify({ asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [] }] });
  const chunk = Buffer.from(scene.padEnd(Math.ceil(scene.length / 4) * 4, ' '));
  const head = Buffer.alloc(20);
  head.write('glTF', 0, 'latin1');
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(head.length + chunk.length, 8);
  head.writeUInt32LE(chunk.length, 12);
  head.write('JSON', 16, 'latin1');
  return Buffer.concat([head, chunk]);
}
