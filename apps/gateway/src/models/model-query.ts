import { routerModality, routerProviderSegment } from '#schemas';
import type { Model } from '#catalog';
import { z } from 'zod';
import { once, pageQuery } from '../http/query.pipe.js';

/** The query of a list of models on v2: a page, in which view, and which models. */
export const modelQuery = pageQuery.extend({
  view: z.enum(['full'], { error: 'must be full' }).optional().meta({
    description: '`full`: each entry with title, description, modalities, price, lifecycle and aliases.',
  }),
  provider: once()
    .refine((text) => routerProviderSegment.safeParse(text).success, { error: 'must be a provider' })
    .optional()
    .meta({ description: 'Only models whose id begins with it.' }),
  modality: z
    .enum(routerModality.options, { error: `must be one of ${routerModality.options.join(', ')}` })
    .optional()
    .meta({ description: 'Only models whose result holds it.' }),
  q: once()
    .min(1, 'must not be empty')
    .max(200, 'must have at most 200 characters')
    .optional()
    .meta({ description: 'Only models with all these words in an id, the title or the description.' }),
});

type ModelQuery = Pick<z.output<typeof modelQuery>, 'provider' | 'modality' | 'q'>;

/** Whether the model is one of those that are asked for. */
export function isMeant({ id, aliases, title, description, modalities }: Model, query: ModelQuery): boolean {
  const { provider, modality, q } = query;
  if (provider !== undefined && !id.startsWith(`${provider}/`)) return false;
  if (modality !== undefined && !modalities?.out.includes(modality)) return false;
  if (q === undefined) return true;
  const text = [id, ...aliases, title, description].join('\n').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
