import { expect, it } from '@jest/globals';
import { CodeExchange } from './code-exchange.js';

it('looks up an unusable code once, and never tries to exchange it', async () => {
  const lookedUp: string[] = [];
  const codes = new CodeExchange({
    isCode: async (code) => {
      lookedUp.push(code);
      return false;
    },
    exchange: async () => {
      throw new Error('the code was exchanged');
    },
  });
  for (const code of ['a', 'b', 'a', 'b']) expect(await codes.exchange(code)).toBeNull();
  expect(lookedUp).toEqual(['a', 'b']);
});
