import { describe, expect, it } from '@jest/globals';
import { Executions } from './execution.js';

function clockedExecutions(lockMs: number) {
  let nowMs = 0;
  const executions = new Executions(lockMs, () => nowMs);
  return {
    executions,
    pass: (ms: number) => {
      nowMs += ms;
      executions.expire();
    },
  };
}

describe('executions', () => {
  it('own their job for the lock’s duration and not longer', () => {
    const { executions, pass } = clockedExecutions(1_000);
    const execution = executions.start('a');
    pass(999);
    expect(execution.signal.aborted).toBe(false);
    pass(1);
    expect(execution.abortion).toBe('lock lost');
  });

  it('own it longer with each renewal', () => {
    const { executions, pass } = clockedExecutions(1_000);
    const renewed = executions.start('a');
    const forgotten = executions.start('b');
    pass(900);
    executions.renewed(['a', 'unknown']);
    pass(900);
    expect(renewed.signal.aborted).toBe(false);
    expect(forgotten.signal.aborted).toBe(true);
  });

  it('are aborted when the server says that the lock is lost', () => {
    const { executions } = clockedExecutions(1_000);
    const [first, second] = [executions.start('a'), executions.start('b')];
    executions.lost(['a']);
    expect([first.abortion, second.abortion]).toEqual(['lock lost', null]);
  });

  it('lose their job to a second delivery in the same process, whose renewals are not theirs', () => {
    const { executions, pass } = clockedExecutions(1_000);
    const first = executions.start('a');
    const second = executions.start('a');
    expect([first.abortion, second.abortion]).toEqual(['lock lost', null]);
    executions.end(first);
    pass(900);
    executions.renewed(['a']);
    pass(900);
    expect(second.signal.aborted).toBe(false);
  });

  it('keep the first reason of an abortion', () => {
    const { executions } = clockedExecutions(1_000);
    const execution = executions.start('a');
    executions.lost(['a']);
    executions.abortAll();
    expect(execution.abortion).toBe('lock lost');
  });

  it('are idle when the last one has ended', async () => {
    const { executions } = clockedExecutions(1_000);
    await executions.idle();
    const [first, second] = [executions.start('a'), executions.start('b')];
    let idle = false;
    const waited = executions.idle().then(() => (idle = true));
    executions.end(first);
    await Promise.resolve();
    expect(idle).toBe(false);
    executions.end(second);
    await waited;
    expect(executions.size).toBe(0);
  });
});
