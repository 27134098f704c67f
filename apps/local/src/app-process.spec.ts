import { describe, expect, it } from '@jest/globals';
import { errorIn } from './app-process.js';

describe('errorIn', () => {
  it('shows the message of errors', () => {
    expect(errorIn('{"level":50,"msg":"the pool is empty"}', false)).toBe('the pool is empty');
    expect(errorIn('{"level":60,"app":"gateway"}', false)).toBe('{"level":60,"app":"gateway"}');
  });

  it('leaves the rest of the log to the file', () => {
    expect(errorIn('{"level":40,"msg":"slow"}', true)).toBeUndefined();
    expect(errorIn('hello', false)).toBeUndefined();
    expect(errorIn('   ', true)).toBeUndefined();
  });

  it('shows what is no log line when it comes from stderr, a torn one too', () => {
    expect(errorIn('{"level":50,', true)).toBe('{"level":50,');
    expect(errorIn('SyntaxError: x', true)).toBe('SyntaxError: x');
  });
});
