import { describe } from '@jest/globals';
import { type SwiftPackages, swiftPackages } from './swift-packages.js';

const found = await swiftPackages();
if (typeof found === 'string') {
  if (process.env['NO_SKIP'] === '1') throw new Error(`NO_SKIP=1, and there is no S3 here: ${found}`);
  process.stderr.write(`Tests with S3 are skipped: ${found}.\n`);
}

/** Skipped where there is no S3, and why is said; never in CI. */
export const describeWithSwift = typeof found === 'string' ? describe.skip : describe;

export const packages = found as SwiftPackages;
