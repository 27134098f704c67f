import { describe, expect, it } from '@jest/globals';
import { errorIn } from './apps.js';

describe('errorIn', () => {
  it('shows the message of errors', () => {
    expect(errorIn('{"level":50,"msg":"the pool is empty"}')).toBe('the pool is empty');
    expect(errorIn('{"level":60,"app":"gateway"}')).toBe('{"level":60,"app":"gateway"}');
  });

  it('leaves other lines to the log file', () => {
    expect(errorIn('{"level":40,"msg":"slow"}')).toBeUndefined();
    expect(errorIn('{"api":"http://127.0.0.1:1"}')).toBeUndefined();
    expect(errorIn('   ')).toBeUndefined();
  });

  it('shows lines that are not log lines, truncated ones too', () => {
    expect(errorIn('{"level":50,')).toBe('{"level":50,');
    expect(errorIn('SyntaxError: x')).toBe('SyntaxError: x');
  });
});
