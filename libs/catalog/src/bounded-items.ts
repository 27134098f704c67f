import { _, type AnySchema, type CodeKeywordDefinition } from 'ajv/dist/2020.js';
import { alwaysValidSchema, Type } from 'ajv/dist/compile/util.js';

/** No list has more failing elements than a 422 has entries. */
const maxFailingElements = 100;

/**
 * The keyword `items`, which stops a list at its hundredth failing element. A validator that collects all errors would
 * collect millions in a long list, and nobody reads them.
 */
export const boundedItems: CodeKeywordDefinition = {
  keyword: 'items',
  type: 'array',
  schemaType: 'object',
  code(context) {
    const { gen, data, it, schema } = context;
    if (alwaysValidSchema(it, schema as AnySchema)) return;
    const failing = gen.let('failing', 0);
    gen.forRange('i', 0, _`${data}.length`, (i) => {
      const valid = gen.name('valid');
      context.subschema({ keyword: 'items', dataProp: i, dataPropType: Type.Num }, valid);
      gen.if(_`!${valid} && ++${failing} >= ${maxFailingElements}`, () => gen.break());
    });
  },
};
