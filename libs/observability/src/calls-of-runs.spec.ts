import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { noteCall, withCallId } from './calls-of-runs.js';

it('every line about a noted run has the id of the call that admitted it, and no other line has one', () => {
  const lines: object[] = [];
  const log = pino(
    { base: null, timestamp: false, hooks: { logMethod: withCallId } },
    { write: (line: string) => lines.push(JSON.parse(line) as object) },
  );
  noteCall('one', 'call of one');
  noteCall('two', undefined);
  log.info({ run_id: 'one', tries: 2 }, 'a line');
  log.child({ app: 'worker' }).warn({ run_id: 'one' }, '%d lines', 3);
  log.info({ run_id: 'one', call_id: 'its own' }, 'a line');
  log.info({ run_id: 'two' }, 'a line');
  log.info({ run_id: null }, 'a line');
  log.info('a line');
  expect(lines).toEqual([
    { level: 30, call_id: 'call of one', run_id: 'one', tries: 2, msg: 'a line' },
    { level: 40, app: 'worker', call_id: 'call of one', run_id: 'one', msg: '3 lines' },
    { level: 30, call_id: 'its own', run_id: 'one', msg: 'a line' },
    { level: 30, run_id: 'two', msg: 'a line' },
    { level: 30, run_id: null, msg: 'a line' },
    { level: 30, msg: 'a line' },
  ]);
});
