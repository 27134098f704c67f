import { describe, expect, it } from '@jest/globals';
import { concerns, plannedFault, readControl, tokensOf, withoutTokens } from './control.js';

const control = (prompt: string) => readControl(tokensOf(prompt)).control;

describe('control tokens', () => {
  it('are read anywhere in the prompt', () => {
    const read = control('a [[sim:tag=load-1]] cat [[sim:takes=2000]][[sim:no_asset]]');
    expect([...read]).toEqual([
      ['tag', 'load-1'],
      ['takes', '2000'],
      ['no_asset', ''],
    ]);
  });

  it('are removed from the text that is drawn', () => {
    expect(withoutTokens('a [[sim:tag=x]] cat [[sim:takes=2]]')).toBe('a cat');
  });

  it('are reported if misspelt or missing a number', () => {
    expect(readControl(['polcy_output', 'takes=soon']).problems).toEqual([
      'unknown control "polcy_output"',
      '"takes" needs a whole number',
    ]);
  });

  it('cover the first n calls with =n, and every call without', () => {
    const limited = control('[[sim:429=2]]');
    expect([1, 2, 3].map((nth) => concerns(limited, '429', nth))).toEqual([true, true, false]);
    expect(concerns(control('[[sim:429]]'), '429', 1000)).toBe(true);
  });

  it('name the fault of the nth poll', () => {
    const read = control('[[sim:poll_502=1]][[sim:poll_html=2]]');
    expect([1, 2, 3].map((nth) => plannedFault(read, 'poll', nth))).toEqual(['502', 'html', undefined]);
    expect(plannedFault(read, 'result', 1)).toBeUndefined();
    expect(plannedFault(control('[[sim:hang_poll=1]]'), 'poll', 1)).toBe('hang');
  });
});
