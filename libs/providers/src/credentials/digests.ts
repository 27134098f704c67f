import { createHash, createHmac } from 'node:crypto';

export const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

export const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');
