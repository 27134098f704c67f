import { describe, expect, it } from '@jest/globals';

import { fieldError, pathOf, sentenceFields } from './fields.js';

describe('pathOf', () => {
  it.each([
    ['width', ['width']],
    ['input.width', ['input', 'width']],
    ['items[2].url', ['items', 2, 'url']],
    ['/images/0/url', ['images', 0, 'url']],
    ['', []],
  ])('%s', (name, path) => {
    expect(pathOf(name)).toEqual(path);
  });
});

describe('fieldError', () => {
  it('accepts a code of any kind as the type, and adds a sentence if the provider has none', () => {
    expect(fieldError(['width'], 'Too wide', 1201)).toEqual({
      loc: ['body', 'width'],
      msg: 'Too wide',
      type: '1201',
    });
    expect(fieldError([], { deep: true }, null)).toEqual({
      loc: ['body'],
      msg: 'The provider did not accept this input.',
      type: 'bad_request',
    });
  });

  it('hides our account and request ids', () => {
    expect(fieldError([], 'Your balance is too low', 'x').msg).toBe(
      'The provider did not accept this input.',
    );
    expect(fieldError(['prompt'], 'Too long. Request id: 021788abc', 'x').msg).toBe('Too long.');
  });
});

describe('sentenceFields', () => {
  const read = sentenceFields({
    msg: '/error/message',
    type: ['/error/code', '/error/type'],
    field: '/error/param',
  });

  it('reads sentence, code and field', () => {
    expect(read({ error: { message: 'Too big', code: 'invalid_value', param: 'image[0].size' } })).toEqual([
      { loc: ['body', 'image', 0, 'size'], msg: 'Too big', type: 'invalid_value' },
    ]);
    expect(read({ error: { message: 'No', code: null, type: 'invalid_request_error' } })).toEqual([
      { loc: ['body'], msg: 'No', type: 'invalid_request_error' },
    ]);
    expect(read({ error: { message: 'No', param: null } })).toEqual([
      { loc: ['body'], msg: 'No', type: 'bad_request' },
    ]);
  });

  it('finds nothing in a body of another form', () => {
    expect(read({ error: 'No' })).toBeUndefined();
    expect(read([])).toBeUndefined();
  });
});
