import { describe } from '@jest/globals';
import { type SwiftPackages, swiftPackages } from './swift-packages.js';

const found = await swiftPackages();
if (typeof found === 'string') {
  if (process.env['NO_SKIP'] === '1') throw new Error(`NO_SKIP=1, but S3 is not available: ${found}`);
  process.stderr.write(`Tests with S3 are skipped: ${found}.\n`);
}

/** Skipped with a message if S3 is not available; CI never skips it. */
export const describeWithSwift = typeof found === 'string' ? describe.skip : describe;

export const packages = found as SwiftPackages;
