import { list } from '#schemas';

/** The setting that lists which clients of other services work. `clients` has what works of each, by its name. */
export function clientSetting(clients: Readonly<Record<string, string>>) {
  const names = Object.keys(clients);
  const parts = Object.entries(clients).map(([name, works]) => `\`${name}\` (${works})`);
  return list(names.join(','))
    .refine((items) => items.every((item) => [...names, 'none'].includes(item)), {
      message: `must be some of ${names.join(', ')}, or none`,
    })
    .meta({
      description: `Clients of other services that work here once their base URL and key are changed: ${parts.join(', ')}. \`none\` turns all of them off.`,
      example: names.join(','),
    });
}
