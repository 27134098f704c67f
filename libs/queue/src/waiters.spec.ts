import { describe, expect, it, jest } from '@jest/globals';
import { Waiters } from './waiters.js';

describe('waiters', () => {
  it('say who came first and who left last', () => {
    const waiters = new Waiters();
    const [one, two] = [() => {}, () => {}];
    expect(waiters.add('a', one)).toBe(true);
    expect(waiters.add('a', two)).toBe(false);
    expect(waiters.remove('a', one)).toBe(false);
    expect(waiters.remove('a', two)).toBe(true);
    expect(waiters.remove('a', two)).toBe(false);
    expect(waiters.runIds()).toEqual([]);
  });

  it('are woken by their own run only, or all together', () => {
    const waiters = new Waiters();
    const [a, b] = [jest.fn(), jest.fn()];
    waiters.add('a', a);
    waiters.add('b', b);
    waiters.wake('a');
    waiters.wake('unknown');
    expect([a.mock.calls.length, b.mock.calls.length]).toEqual([1, 0]);
    waiters.wakeAll();
    expect([a.mock.calls.length, b.mock.calls.length]).toEqual([2, 1]);
  });

  it('may leave and come back while they are woken', () => {
    const waiters = new Waiters();
    let woken = 0;
    const wake = () => {
      woken += 1;
      waiters.remove('a', wake);
      waiters.add('a', wake);
    };
    waiters.add('a', wake);
    waiters.wake('a');
    expect(woken).toBe(1);
  });
});
