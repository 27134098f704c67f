import { list } from '#schemas';
import { vendors } from './vendors.js';

const names = vendors.map(({ name }) => name);
const parts = vendors.map(({ name, serves }) => `\`${name}\` (${serves})`);

export const vendorSettings = {
  COMPAT_CLIENTS: list(names.join(','))
    .refine((items) => items.every((item) => [...names, 'none'].includes(item)), {
      message: `must be some of ${names.join(', ')}, or none`,
    })
    .meta({
      description: `Clients of other services that work here once their base URL and key are changed: ${parts.join(', ')}. \`none\` turns all of them off.`,
      example: names.join(','),
    }),
};
