import type { KeyState } from '#persistence';
import type { Command } from 'commander';
import type { Desk } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';

/** Adds the commands for providers that have several keys. `checkKnown` rejects an unknown provider. */
export function providerKeyCommands(
  provider: Command,
  desk: Desk,
  checkKnown: (services: Services, name: string) => Promise<void>,
): void {
  const key = provider
    .command('key')
    .description('Keys of providers that have several: list and restore them.');

  key
    .command('list')
    .description('List the keys of pools with their states and limits. The keys themselves are not shown.')
    .argument('[provider]', 'name of the provider (default: all)')
    .action(
      answering(desk, async (services, name?: string) => {
        if (name !== undefined) await checkKnown(services, name);
        const listed = await services.providerKeys.list();
        const keys = listed.filter((each) => name === undefined || each.provider === name);
        return { document: { keys: keys.map(documentOf) }, text: keysText(keys) };
      }),
    );

  key
    .command('restore')
    .description('Return a key that the provider rejected to its pool.')
    .argument('<provider>', 'name of the provider, such as bfl')
    .argument('<name>', 'name of the key')
    .action(
      answering(desk, async (services, name: string, keyName: string) => {
        await checkKnown(services, name);
        const names = (await services.providerKeys.list()).flatMap((each) =>
          each.provider === name ? [each.name] : [],
        );
        if (!names.includes(keyName)) throw unknownName(`key of ${name}`, keyName, names);
        const hadLeft = await services.providerKeys.restore(
          { provider: name, name: keyName },
          services.actor,
        );
        return {
          document: { provider: name, key: keyName, restored: hadLeft },
          text: hadLeft ? `${keyName} is used again for ${name}.` : `${keyName} had not left the pool.`,
        };
      }),
    );
}

const documentOf = ({ perMinute, coolsUntil, leftAt, leftFor, ...key }: KeyState) => ({
  ...key,
  per_minute: perMinute,
  cools_until: coolsUntil,
  left_at: leftAt,
  left_for: leftFor,
});

const keysText = (keys: readonly KeyState[]): string =>
  table(keys, {
    PROVIDER: ({ provider }) => provider,
    KEY: ({ name }) => name,
    STATE: ({ state }) => state,
    WEIGHT: ({ weight }) => weight,
    CONCURRENCY: ({ concurrency }) => concurrency ?? undefined,
    'PER MINUTE': ({ perMinute }) => perMinute ?? undefined,
    'COOLS UNTIL': ({ coolsUntil }) => coolsUntil ?? undefined,
    'LEFT AT': ({ leftAt }) => leftAt ?? undefined,
    FOR: ({ leftFor }) => leftFor ?? undefined,
  });
