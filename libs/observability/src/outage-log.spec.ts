import { describe, expect, it, jest } from '@jest/globals';
import type { Log } from './log.js';
import { OutageLog } from './outage-log.js';

const missing = (runId: string) => new Error(`Missing lock for job ${runId}. moveToFinished`);

interface Line {
  message: string;
  facts: Record<string, unknown>;
}

function recorded() {
  const all: Line[] = [];
  let nowMs = 0;
  const say = (facts: Line['facts'], message: string) => void all.push({ message, facts });
  const log = { info: say, warn: say } as unknown as Log;
  const outage = new OutageLog(log, 'redis', { nowMs: () => nowMs });
  return {
    all,
    lines: () => all.map(({ message }) => message),
    outage,
    pass: (ms: number) => (nowMs += ms),
  };
}

describe('outage log', () => {
  it('writes one line when the server is lost and one when it is back', () => {
    const { lines, outage } = recorded();
    outage.back();
    for (let n = 0; n < 100; n += 1) outage.lost(new Error('ECONNREFUSED'));
    outage.trouble(new Error('Command timed out'), 'could not enqueue a run');
    outage.back();
    outage.back();
    expect(lines()).toEqual(['redis is unreachable, work waits', 'redis is back']);
  });

  it('writes one line a minute while the server is unreachable, with its duration and the number of failures', () => {
    const { all, outage, pass } = recorded();
    for (let second = 0; second < 130; second += 1) {
      outage.lost(new Error('connect ECONNREFUSED 127.0.0.1:6379'));
      pass(1_000);
    }
    outage.back();
    const reason = 'connect ECONNREFUSED 127.0.0.1:6379';
    expect(all).toEqual([
      { message: 'redis is unreachable, work waits', facts: { server: 'redis', reason } },
      {
        message: 'redis is still unreachable',
        facts: { server: 'redis', away_s: 60, failures: 61, reason },
      },
      {
        message: 'redis is still unreachable',
        facts: { server: 'redis', away_s: 120, failures: 121, reason },
      },
      { message: 'redis is back', facts: { server: 'redis', away_s: 130, failures: 130 } },
    ]);
  });

  it('writes no stack of an outage, and keeps that of another error', () => {
    const { all, outage } = recorded();
    const failure = new Error('OOM command not allowed');
    outage.trouble(failure, 'could not enqueue runs');
    outage.lost(Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' }));
    expect(all.map(({ facts }) => facts)).toEqual([
      { server: 'redis', err: failure },
      { server: 'redis', reason: 'ECONNREFUSED' },
    ]);
  });

  it('counts an answer as the end of the outage only if nothing has failed for two seconds', () => {
    const { lines, outage, pass } = recorded();
    for (let n = 0; n < 10; n += 1) {
      outage.lost(new Error('sorry, too many clients already'));
      pass(500);
      outage.answered();
    }
    expect(lines()).toHaveLength(1);
    pass(1_500);
    outage.answered();
    outage.answered();
    expect(lines()).toEqual(['redis is unreachable, work waits', 'redis is back']);
  });

  it('is not silenced when the machine’s clock is set back', () => {
    const lines: string[] = [];
    const say = (_facts: object, message: string) => void lines.push(message);
    const outage = new OutageLog({ info: say, warn: say } as unknown as Log, 'redis');
    outage.trouble(new Error('OOM'), 'could not enqueue runs');
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    const time = jest.spyOn(performance, 'now').mockReturnValue(1e9);
    outage.trouble(new Error('OOM'), 'could not enqueue runs');
    clock.mockRestore();
    time.mockRestore();
    expect(lines).toHaveLength(2);
  });

  it('writes the same problem at most once in ten seconds, whichever job it is about', () => {
    const { lines, outage, pass } = recorded();
    outage.trouble(missing('0198c1a2-0000-7000-8000-000000000001'), 'worker of poll');
    outage.trouble(missing('0198c1a2-0000-7000-8000-000000000002'), 'worker of poll');
    outage.trouble(missing('0198c1a2-0000-7000-8000-000000000002'), 'worker of assets');
    expect(lines()).toEqual(['worker of poll', 'worker of assets']);
    pass(10_000);
    outage.trouble(missing('0198c1a2-0000-7000-8000-000000000003'), 'worker of poll');
    expect(lines()).toHaveLength(3);
  });
});
