import { createHash } from 'node:crypto';
import { crc32, gunzipSync } from 'node:zlib';

/** A file in an archive. Names have slashes. */
export interface Entry {
  name: string;
  bytes: Buffer;
}

// Nothing is compressed, and times are constant: compressed bytes depend on the processor and on the version of Node,
// but the same release must have the same bytes everywhere.
const npmSeconds = 499_162_500;
const mode = 0o644;
const blockBytes = 512;
const maxStoredBytes = 0xffff;

/** A .tar.gz of the files, as npm and Python's source distributions use it. */
export const tarball = (entries: readonly Entry[]): Buffer => gzip(tar(entries));

/** The files of a `tarball`. */
export function entriesOf(bytes: Buffer): Entry[] {
  const entries: Entry[] = [];
  const archive = gunzipSync(bytes);
  for (let at = 0; archive[at] !== 0;) {
    const field = (from: number, length: number) =>
      archive.toString('latin1', at + from, at + from + length).replace(/\0.*$/s, '');
    const size = Number.parseInt(field(124, 12), 8);
    const start = at + blockBytes;
    const name = [field(345, 155), field(0, 100)].filter(Boolean).join('/');
    entries.push({ name, bytes: archive.subarray(start, start + size) });
    at = start + padded(size);
  }
  return entries;
}

/** A zip of the files, as Python's wheels use it. */
export function zip(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    // Version 2.0, no flags, stored, 1 January 1980, the checksum and both sizes, the length of the name.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(0x21, 8);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(bytes.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name)]);
    const central = Buffer.alloc(14);
    // Without the mode of a regular file, unpacked files would have none.
    central.writeUInt32LE(((0o100000 | mode) << 16) >>> 0, 6);
    central.writeUInt32LE(offset, 10);
    // Made on Unix, which gives the mode its meaning.
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), facts, central, Buffer.from(name));
    parts.push(local, bytes);
    offset += local.length + bytes.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, listed, Buffer.from('PK\x05\x06'), end]);
}

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes);

function tar(entries: readonly Entry[]): Buffer {
  const parts = entries.flatMap(({ name, bytes }) => [
    header(name, bytes.length),
    bytes,
    Buffer.alloc(padded(bytes.length) - bytes.length),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

const padded = (length: number) => Math.ceil(length / blockBytes) * blockBytes;

/** A POSIX ustar header. */
function header(name: string, length: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`the name is too long for an archive: ${name}`);
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, width: number) =>
    block.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at);
  block.write(name, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(length, 124, 12);
  octal(npmSeconds, 136, 12);
  // The checksum counts its own field as spaces.
  block.write('        0', 148);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A gzip member of stored blocks. */
function gzip(bytes: Buffer): Buffer {
  // Deflate, no flags, no time, no level, Unix.
  const parts: Buffer[] = [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])];
  for (let at = 0; at < bytes.length; at += maxStoredBytes) {
    const block = bytes.subarray(at, at + maxStoredBytes);
    const isLast = at + maxStoredBytes >= bytes.length;
    const head = Buffer.from([Number(isLast), 0, 0, 0, 0]);
    head.writeUInt16LE(block.length, 1);
    head.writeUInt16LE(0xffff - block.length, 3);
    parts.push(head, block);
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc32(bytes), 0);
  tail.writeUInt32LE(bytes.length, 4);
  return Buffer.concat([...parts, tail]);
}
