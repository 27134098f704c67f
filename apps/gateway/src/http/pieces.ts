const freePieces = 4096;
const bytesOfAPiece = 256;

/**
 * Whether a body arrives in more pieces than its size explains. A chunk of one byte costs the gateway as much work as one
 * of several hundred bytes.
 */
export const hasTooManyPieces = (pieces: number, bytes: number): boolean =>
  pieces > freePieces + bytes / bytesOfAPiece;
