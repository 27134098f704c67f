import { describe, expect, it } from '@jest/globals';
import { Isolation } from './isolation.js';

const nothing = (): void => {};

/** Work that notes its begin and its end, and ends when told to. */
function work(name: string, said: string[]) {
  let end = nothing;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const run = async () => {
    said.push(`${name} begins`);
    await ended;
    said.push(`${name} ends`);
    return name;
  };
  return { run, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('isolation', () => {
  it('lets submissions run side by side', async () => {
    const said: string[] = [];
    const [a, b] = [work('a', said), work('b', said)];
    const isolation = new Isolation();
    const results = [isolation.among(a.run), isolation.among(b.run)];
    await settled();
    expect(said).toEqual(['a begins', 'b begins']);
    a.end();
    b.end();
    expect(await Promise.all(results)).toEqual(['a', 'b']);
  });

  it('keeps a suspect apart from what runs, from what comes, and from the next suspect', async () => {
    const said: string[] = [];
    const [running, first, second, coming] = ['running', 'first', 'second', 'coming'].map((name) =>
      work(name, said),
    ) as [ReturnType<typeof work>, ReturnType<typeof work>, ReturnType<typeof work>, ReturnType<typeof work>];
    const isolation = new Isolation();
    const results = [
      isolation.among(running.run),
      isolation.alone(first.run),
      isolation.alone(second.run),
      isolation.among(coming.run),
    ];
    for (const each of [running, first, second, coming]) {
      await settled();
      each.end();
    }
    await Promise.all(results);
    expect(said).toEqual(
      ['running', 'first', 'second', 'coming'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
  });

  it('waits for neither side longer than its patience', async () => {
    const said: string[] = [];
    const [hanging, suspect, next] = [work('hanging', said), work('suspect', said), work('next', said)];
    const isolation = new Isolation(20);
    const results = [isolation.among(hanging.run), isolation.alone(suspect.run), isolation.among(next.run)];
    next.end();
    await results[2];
    expect(said).toEqual(['hanging begins', 'suspect begins', 'next begins', 'next ends']);
    hanging.end();
    suspect.end();
    await Promise.all(results);
  });

  it('passes a failure on and lets the others through', async () => {
    const isolation = new Isolation();
    await expect(isolation.alone(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await isolation.among(async () => 'fine')).toBe('fine');
  });
});
