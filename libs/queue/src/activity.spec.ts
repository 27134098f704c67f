import { describe, expect, it } from '@jest/globals';
import { Activity } from './activity.js';

describe('Activity', () => {
  let now = 0;
  const activity = () => {
    now = 0;
    return new Activity(60_000, () => now);
  };

  it('is stuck if work has waited for a minute and nothing was taken', () => {
    const idle = activity();
    idle.noteWaiting(3);
    now = 59_999;
    expect(idle.isStuck).toBe(false);
    now = 60_000;
    expect(idle.isStuck).toBe(true);
  });

  it('is not stuck while nothing waits, however long', () => {
    const idle = activity();
    idle.noteWaiting(0);
    now = 600_000;
    expect(idle.isStuck).toBe(false);
    idle.noteWaiting(1);
    now = 659_000;
    idle.noteWaiting(0);
    now = 700_000;
    expect(idle.isStuck).toBe(false);
  });

  it('is not stuck while the server answers with errors', () => {
    const refused = activity();
    refused.noteWaiting(3);
    now = 59_000;
    refused.noteRefusal();
    refused.noteWaiting(3);
    now = 118_000;
    expect(refused.isStuck).toBe(false);
    now = 119_000;
    expect(refused.isStuck).toBe(true);
  });

  it('is not stuck while it works on a job, or after it', async () => {
    const busy = activity();
    busy.noteWaiting(3);
    now = 100_000;
    await busy.during(async () => {
      expect(busy.isStuck).toBe(false);
      busy.noteWaiting(3);
      now = 200_000;
      expect(busy.isStuck).toBe(false);
    });
    expect(busy.isStuck).toBe(false);
  });
});
