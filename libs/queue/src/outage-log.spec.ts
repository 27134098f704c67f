import { describe, expect, it, jest } from '@jest/globals';
import type { Log } from '#observability';
import { OutageLog } from './outage-log.js';

const missing = (runId: string) => new Error(`Missing lock for job ${runId}. moveToFinished`);

function recorded() {
  const lines: string[] = [];
  let nowMs = 0;
  const log = {
    info: (_facts: object, message: string) => void lines.push(message),
    warn: (_facts: object, message: string) => void lines.push(message),
  } as unknown as Log;
  const outage = new OutageLog(log, 'redis', () => nowMs);
  return { lines, outage, pass: (ms: number) => (nowMs += ms) };
}

describe('outage log', () => {
  it('writes one line when the server is lost and one when it is back', () => {
    const { lines, outage } = recorded();
    outage.back();
    for (let n = 0; n < 100; n += 1) outage.lost(new Error('ECONNREFUSED'));
    outage.trouble(new Error('Command timed out'), 'could not enqueue a run');
    outage.back();
    outage.back();
    expect(lines).toEqual(['redis is unreachable; runs wait in their rows', 'redis is back']);
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
    expect(lines).toEqual(['worker of poll', 'worker of assets']);
    pass(10_000);
    outage.trouble(missing('0198c1a2-0000-7000-8000-000000000003'), 'worker of poll');
    expect(lines).toHaveLength(3);
  });
});
