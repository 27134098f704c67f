import { describe, expect, it } from '@jest/globals';
import { Progress } from './progress.js';

describe('Progress', () => {
  let now = 0;
  const progress = () => {
    now = 0;
    return new Progress(60_000, () => now);
  };

  it('is wedged when work waits for a minute and none is taken', () => {
    const idle = progress();
    idle.noteWaiting(3);
    now = 59_999;
    expect(idle.wedged).toBe(false);
    now = 60_000;
    expect(idle.wedged).toBe(true);
  });

  it('is not wedged while nothing waits, whatever the time', () => {
    const idle = progress();
    idle.noteWaiting(0);
    now = 600_000;
    expect(idle.wedged).toBe(false);
    idle.noteWaiting(1);
    now = 659_000;
    idle.noteWaiting(0);
    now = 700_000;
    expect(idle.wedged).toBe(false);
  });

  it('is not wedged once it took a job, nor while it works on one', async () => {
    const busy = progress();
    busy.noteWaiting(3);
    now = 100_000;
    await busy.during(async () => {
      expect(busy.wedged).toBe(false);
      busy.noteWaiting(3);
      now = 200_000;
      expect(busy.wedged).toBe(false);
    });
    expect(busy.wedged).toBe(false);
  });
});
