/** Frames of MPEG-1 layer III, 128 kbit/s, 44.1 kHz, whose side information says that nothing sounds: 0.1 s. */
export function silence(): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xfffb9000);
  return Buffer.concat(Array.from({ length: 4 }, () => frame));
}
