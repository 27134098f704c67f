import { providerRow } from '#providers';
import { z } from 'zod';
import { hidingRow, modelRow } from './model.js';

/** JSON Schema of the files of a catalog directory, for editors that complete and check while one types. */
export const catalogSchemas = {
  model: () => editorSchema(z.union([modelRow, hidingRow]), 'A model of a catalog directory'),
  provider: () => editorSchema(providerRow, 'A provider declared in a catalog directory'),
};

const editorSchema = (shape: z.ZodType, title: string): Record<string, unknown> => ({
  title,
  ...z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' }),
});
