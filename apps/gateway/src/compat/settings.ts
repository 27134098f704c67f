import { list } from '#schemas';
import type { z } from 'zod';

const clients = ['comfy', 'fal'];

/** Settings for the clients of other services. */
export const compatSettings = {
  COMPAT_CLIENTS: list(clients.join(','))
    .refine((items) => items.every((item) => [...clients, 'none'].includes(item)), {
      message: `must be ${clients.join(', ')}, both, or none`,
    })
    .meta({
      description:
        'Clients of other services that work here once their base URL and key are changed: `comfy` (its header names) and `fal` (its proxy and Authorization scheme). `none` turns both off.',
      example: 'comfy,fal',
    }),
};

export type CompatSettings = z.infer<z.ZodObject<typeof compatSettings>>;
