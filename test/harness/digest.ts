import { createHash } from 'node:crypto';

/** The digest by which the simulator identifies a submission's bytes. */
export const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');
