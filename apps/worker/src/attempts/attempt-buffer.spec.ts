import { expect, it } from '@jest/globals';
import type { Attempt } from '#persistence';
import { AttemptBuffer, gatherMs, repeatMs } from './attempt-buffer.js';

const attempt = (status: number, reply?: string): Attempt => ({
  provider: 'fal',
  phase: 'poll',
  status,
  class: 'provider_failed',
  reading: `poll answered HTTP ${status}`,
  reply,
});

function buffer() {
  let nowMs = 0;
  const attempts = new AttemptBuffer(() => nowMs);
  return { attempts, pass: (ms: number) => (nowMs += ms), due: () => attempts.takeDue(50) };
}

it('a poll that fails every second for five minutes is due once in 30 s, as one attempt with a count', () => {
  const { attempts, pass, due } = buffer();
  const written: { atSecond: number; count: number; reply: string | undefined }[] = [];
  for (let second = 0; second <= 300; second += 1) {
    attempts.add('run', attempt(500, `reply ${second}`));
    for (const { attempts: all } of due())
      for (const { count, reply } of all) written.push({ atSecond: second, count, reply });
    pass(1000);
  }
  expect(written.map(({ atSecond }) => atSecond)).toEqual([1, 30, 60, 90, 120, 150, 180, 210, 240, 270, 300]);
  expect(written.reduce((sum, { count }) => sum + count, 0)).toBe(301);
  expect(written.at(-1)?.reply).toBe('reply 300');
});

it('a new kind of failure is due soon, and one that alternates with another is not', () => {
  const { attempts, pass, due } = buffer();
  attempts.add('run', attempt(500));
  expect(due()).toEqual([]);
  pass(gatherMs);
  expect(due()).toHaveLength(1);
  attempts.add('run', attempt(503));
  pass(gatherMs);
  expect(due()).toMatchObject([{ runId: 'run', attempts: [{ status: 503, count: 1 }] }]);
  for (const status of [500, 503, 500]) {
    attempts.add('run', attempt(status));
    pass(gatherMs);
  }
  expect(due()).toEqual([]);
  pass(repeatMs);
  expect(due()).toMatchObject([{ attempts: [{ status: 500 }, { status: 503 }, { status: 500 }] }]);
});

it('of many different attempts the first and the last are kept, and the others are counted', () => {
  const { attempts, pass, due } = buffer();
  for (let status = 400; status < 450; status += 1) attempts.add('run', attempt(status));
  pass(gatherMs);
  const [taken] = due();
  expect(taken?.attempts.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 10 }, (_, nth) => 400 + nth),
    ...Array.from({ length: 10 }, (_, nth) => 440 + nth),
  ]);
  expect(taken?.leftOut).toBe(30);
});

it('writes what could not be written again soon, before what came meanwhile', () => {
  const { attempts, pass, due } = buffer();
  for (let status = 400; status < 415; status += 1) attempts.add('run', attempt(status));
  pass(gatherMs);
  const unwritten = due();
  for (let status = 500; status < 515; status += 1) attempts.add('run', attempt(status));
  attempts.putBack(unwritten);
  pass(gatherMs);
  const [taken] = due();
  expect(taken?.attempts.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 10 }, (_, nth) => 400 + nth),
    ...Array.from({ length: 10 }, (_, nth) => 505 + nth),
  ]);
  expect(taken?.leftOut).toBe(10);
});

it('takes a limited number of runs, and keeps the others', () => {
  const { attempts, pass } = buffer();
  for (let nth = 0; nth < 70; nth += 1) attempts.add(`run ${nth}`, attempt(500));
  pass(gatherMs);
  expect(attempts.takeDue(50)).toHaveLength(50);
  expect(attempts.takeDue(50)).toHaveLength(20);
  expect(attempts.takeDue(50)).toEqual([]);
});

it('takes everything when the worker stops', () => {
  const { attempts } = buffer();
  attempts.add('run', attempt(500));
  expect(attempts.takeDue(50, Infinity)).toHaveLength(1);
});

it('remembers a limited number of runs', () => {
  const { attempts, pass } = buffer();
  for (let nth = 0; nth < 6_000; nth += 1) attempts.add(`run ${nth}`, attempt(500));
  pass(gatherMs);
  expect(attempts.takeDue(10_000)).toHaveLength(5_000);
});
