/**
 * The smallest file that sniffs as MP4: a type box, the text in a box that players skip, and no media. Nothing
 * plays it; it is there so that a video's way from partner to caller can be followed.
 */
export function clipOf(text: string): Buffer {
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
