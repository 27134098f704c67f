import { expect, it } from '@jest/globals';
import { RunProcessor } from './run.processor.js';

it('declares the signal, or BullMQ would not hand one out', () => {
  expect(RunProcessor.prototype).toHaveProperty('process.length', 3);
});
