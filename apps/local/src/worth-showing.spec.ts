import { describe, expect, it } from '@jest/globals';
import { worthShowing } from './worth-showing.js';

describe('worthShowing', () => {
  it('shows the message of errors', () => {
    expect(worthShowing('{"level":50,"msg":"the pool is empty"}', false)).toBe('the pool is empty');
    expect(worthShowing('{"level":60,"app":"gateway"}', false)).toBe('{"level":60,"app":"gateway"}');
  });

  it('leaves the rest of the log to the file', () => {
    expect(worthShowing('{"level":40,"msg":"slow"}', true)).toBeUndefined();
    expect(worthShowing('hello', false)).toBeUndefined();
    expect(worthShowing('   ', true)).toBeUndefined();
  });

  it('shows what is no log line when it comes from stderr, a torn one too', () => {
    expect(worthShowing('{"level":50,', true)).toBe('{"level":50,');
    expect(worthShowing('SyntaxError: x', true)).toBe('SyntaxError: x');
  });
});
