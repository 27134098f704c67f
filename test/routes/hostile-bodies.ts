/** A body that no honest client sends. */
export interface HostileBody {
  what: string;
  bytes: Buffer;
  contentType: string;
}

const json = 'application/json';
const boundary = 'x'.repeat(70);
const form = `multipart/form-data; boundary=${boundary}`;

/**
 * Bodies of at most `size` bytes: broken names, numbers, texts and escapes, too many members and levels, and what is no
 * JSON object. `usual` is a body that the route knows; each spoils one of its places.
 */
export function* hostileBodies(usual: Record<string, unknown>, size: number): Generator<HostileBody> {
  const beside = JSON.stringify(usual).slice(1, -1);
  const [first = 'prompt'] = Object.keys(usual).filter((name) => name !== 'model');
  const room = size - Buffer.byteLength(beside) - 100;
  const filled = (piece: string): string => piece.repeat(Math.max(1, Math.floor(room / piece.length)));
  const members = (piece: string) => `{${filled(`${piece},`)}${beside}}`;
  const value = (text: string) => `{${beside},"a":${text},${JSON.stringify(first)}:${text}}`;
  const list = (piece: string) => `[${filled(`${piece},`).slice(0, -1)}]`;

  const texts: Record<string, string | Buffer> = {
    'names of nothing': members('"":1'),
    'names with a broken escape': members('"\\x":1'),
    'names with half an escape': members('"\\u12":1'),
    'names with half a pair': members('"\\ud800":1'),
    'names that end in a backslash': members('"\\\\":1'),
    'names of prototypes': `{"__proto__":{"model":"x"},"constructor":{"prototype":{"a":1}},"toString":1,${beside}}`,
    'names written as escapes': `{"\\u006dodel":"x","\\u0069nput":{},${beside}}`,
    'the same name often': members('"model":"x"'),
    'a long name': `{"${'a'.repeat(room)}":1,${beside}}`,
    'names that are no UTF-8': spoilt(members('"a#":1')),
    'texts that are no UTF-8': spoilt(value('"#"')),
    'halves of pairs': value(`"${filled('\\udc00')}"`),
    'NUL escapes': value(`"${filled('\\u0000')}"`),
    'control characters': value('"\u0001\u001f"'),
    'a NUL byte': value('"\u0000"'),
    'a long text': value(`"${'a'.repeat(Math.floor(room / 2))}"`),
    'many digits': value('1'.repeat(Math.floor(room / 2))),
    'many digits after the point': value(`0.${'1'.repeat(Math.floor(room / 2) - 2)}`),
    'a huge exponent': value('1e999999'),
    'a tiny exponent': value('-1e-999999'),
    'negative zero': value('-0'),
    'a leading zero': value('01'),
    'no number': value('NaN'),
    'a sign only': value('-'),
    'numbers in a list': value(
      list('1')
        .slice(0, Math.floor(room / 2) - 1)
        .replace(/,?$/, ']'),
    ),
    'deep lists': value(`${'['.repeat(Math.floor(room / 8))}${']'.repeat(Math.floor(room / 8))}`),
    'deep objects': value(`${'{"a":'.repeat(Math.floor(room / 16))}1${'}'.repeat(Math.floor(room / 16))}`),
    'lists that never close': '['.repeat(size),
    'objects that never close': '{"a":'.repeat(Math.floor(size / 5)),
    'a text that never closes': `{"a":"${'x'.repeat(size - 10)}`,
    'many empty objects': `{${beside},"a":${list('{}')}}`,
    'many members': `{${beside},${Array.from({ length: Math.floor(room / 12) }, (_, index) => `"k${index}":1`).join()}}`,
    'a mark of the byte order': `\ufeff{${beside}}`,
    'white space': ' '.repeat(size),
    'text after the end': `{${beside}}x`,
    nothing: '',
    null: 'null',
    'a list': '[]',
    'a text': '"x"',
    'a number': '1',
    'half an object': `{${beside}`,
  };
  for (const [what, text] of Object.entries(texts))
    yield { what, bytes: Buffer.from(text as string), contentType: json };

  const part = (head: string, body: string) => `--${boundary}\r\n${head}\r\n\r\n${body}\r\n`;
  const field = (name: string) => part(`Content-Disposition: form-data; name="${name}"`, 'x');
  const forms: Record<string, string> = {
    'a form of many fields': filled(field('a')),
    'a form of many files': filled(
      part('Content-Disposition: form-data; name="image"; filename="a.png"', 'x'),
    ),
    'a form with long headers': part(`A: ${'x'.repeat(room)}`, ''),
    'a form that never begins': 'x'.repeat(size),
    'a form that never ends': `${field('model')}--${boundary}\r\nContent-Disposition: form-data; name="file"`,
    'a form of prototypes': `${field('__proto__')}${field('constructor')}--${boundary}--\r\n`,
    'a form of nested names': `${field('a[b][c][]')}${field('[')}--${boundary}--\r\n`,
    'an empty form': `--${boundary}--\r\n`,
  };
  for (const [what, text] of Object.entries(forms))
    yield { what, bytes: Buffer.from(text), contentType: form };
  yield { what: 'a form without boundary', bytes: Buffer.from('x'), contentType: 'multipart/form-data' };
  yield {
    what: 'fields of a page',
    bytes: Buffer.from(filled('a=1&')),
    contentType: 'application/x-www-form-urlencoded',
  };
  yield {
    what: 'another character set',
    bytes: Buffer.from(`{${beside}}`, 'utf16le'),
    contentType: `${json}; charset=utf-16le`,
  };
  yield { what: 'a strange type', bytes: Buffer.from(`{${beside}}`), contentType: 'x/y; "' };
}

/** The text with a byte in place of each `#` that begins no character of UTF-8. */
const spoilt = (text: string): Buffer => Buffer.from(text.replaceAll('#', '\u00ff'), 'latin1');
