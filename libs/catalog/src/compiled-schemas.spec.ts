import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { compileSchema } from './check-input.js';
import type { JsonSchema } from './json-schema.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function compileOne(): WeakRef<JsonSchema> {
  const schema: JsonSchema = {
    type: 'object',
    required: ['prompt'],
    properties: { prompt: { enum: ['a'] } },
  };
  expect(compileSchema(schema).errorsOf({ prompt: 'b' })).toHaveLength(1);
  return new WeakRef(schema);
}

it('a schema that nothing uses any more is garbage-collected, although it was compiled', async () => {
  const unused = compileOne();
  // A weak reference holds its target until the end of the turn.
  await new Promise(setImmediate);
  // The compiler keeps the values of the last schema only.
  compileOne();
  collect();
  expect(unused.deref()).toBeUndefined();
});
