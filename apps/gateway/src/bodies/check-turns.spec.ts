import { describe, expect, it } from '@jest/globals';
import { CheckTurns } from './check-turns.js';

const never = new AbortController().signal;
const mebibyte = 1024 * 1024;
/** All that is pending has gone as far as it can. */
const settled = () => new Promise(setImmediate);

/** Bodies that stay under way until they are ended by their names. */
function checksOf(turns: CheckTurns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    begin: (name: string, bytes = 1, signal: AbortSignal = never) => {
      const [workspace = ''] = name;
      return turns.inTurn(workspace, bytes, signal, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      });
    },
    end: async (...names: string[]) => {
      for (const name of names) {
        ends.get(name)?.();
        await settled();
      }
    },
  };
}

describe('CheckTurns', () => {
  it('has one body of a workspace under way, and others beside it', async () => {
    const { begun, begin, end } = checksOf(new CheckTurns(2, 100));
    for (const name of ['a1', 'a2', 'b1', 'c1']) void begin(name);
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    await end('c1');
    expect(begun).toHaveLength(3);
    await end('a1', 'a2');
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('serves next the workspace that was served the fewest bytes', async () => {
    const { begun, begin, end } = checksOf(new CheckTurns(1, 100));
    void begin('a1', 1000);
    for (const name of ['a2', 'a3']) void begin(name, 1000);
    for (const name of ['b1', 'b2', 'b3', 'b4']) void begin(name, 400);
    await settled();
    await end('a1', 'b1', 'b2', 'b3', 'a2');
    expect(begun).toEqual(['a1', 'b1', 'b2', 'b3', 'a2', 'b4']);
    await end('b4', 'a3');
  });

  it('never lets large bodies hold every thread', async () => {
    const { begun, begin, end } = checksOf(new CheckTurns(2, 100));
    void begin('a1', 2 * mebibyte);
    void begin('b1', 2 * mebibyte);
    void begin('c1', 1);
    await settled();
    expect(begun).toEqual(['a1', 'c1']);
    await end('c1');
    expect(begun).toHaveLength(2);
    await end('a1');
    expect(begun).toEqual(['a1', 'c1', 'b1']);
    await end('b1');
  });

  it('refuses the workspace that fills the line, and nobody else', async () => {
    const { begin, end } = checksOf(new CheckTurns(1, 10));
    void begin('a0');
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void begin(name);
    await expect(begin('a6')).rejects.toMatchObject({ bucket: 'service_unavailable' });
    const other = begin('b1');
    await settled();
    await end('a0', 'a1', 'b1');
    await other;
    await end('a2', 'a3', 'a4', 'a5');
  });

  it('lets a body go whose time is over while it waits, or that fails, at no cost to others', async () => {
    const turns = new CheckTurns(1, 10);
    const { begun, begin, end } = checksOf(turns);
    const failed = turns.inTurn('a', 1, never, () => Promise.reject(new Error('too slow')));
    const late = new AbortController();
    const waiting = begin('b1', 1, late.signal);
    late.abort(new Error('waited too long'));
    await expect(waiting).rejects.toThrow('waited too long');
    await expect(failed).rejects.toThrow('too slow');
    const other = begin('c1');
    await settled();
    expect(begun).toEqual(['c1']);
    await end('c1');
    await other;
  });
});
