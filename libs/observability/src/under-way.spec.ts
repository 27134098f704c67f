import { expect, it } from '@jest/globals';
import { UnderWay } from './under-way.js';

it('logs a failure with its facts, and ends', async () => {
  const lines: unknown[] = [];
  const underWay = new UnderWay({ warn: (facts, message) => void lines.push([message, facts]) });
  const error = new Error('no');
  underWay.track(Promise.reject(error), 'could not dispatch a run', { run_id: 'one' });
  underWay.track(Promise.reject(error), 'could not look');
  underWay.track(Promise.resolve(), 'never said', { run_id: 'two' });
  await underWay.ended();
  expect(lines).toEqual([
    ['could not dispatch a run', { run_id: 'one', error }],
    ['could not look', { error }],
  ]);
});
