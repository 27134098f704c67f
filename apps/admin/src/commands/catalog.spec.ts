import { describe, expect, it } from '@jest/globals';
import { problemLine } from './catalog.js';

describe('problemLine', () => {
  it('includes the pointer of a catalog problem only if there is one', () => {
    expect(problemLine({ file: 'a.yaml', pointer: '/price', reason: 'bad' })).toBe('a.yaml#/price: bad');
    expect(problemLine({ file: 'a.yaml', pointer: '', reason: 'not\n  readable\n' })).toBe(
      'a.yaml: not readable',
    );
  });
});
