import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BadSettings, readSettings, type SettingsShape } from '#schemas';
import { z } from 'zod';

import { baseUrl } from './base-url.js';
import { type KeyCheck, keyCheck } from './check.js';
import type { ProviderAdapter, ProviderDefinition, ProviderFailure } from './contract.js';
import { definitionOf } from './declared/declared.js';
import { type OperatorKey, type ProviderKey, readKeys } from './provider-keys.js';
import { builtInRows } from './parsed-yaml.js';
import { google } from './providers/google/google.js';
import { replicate } from './providers/replicate/replicate.js';
import { runway } from './providers/runway/runway.js';
import { stability } from './providers/stability/stability.js';

/** The built-in providers. */
export const providerList: readonly ProviderDefinition[] = [
  ...builtInRows().map(definitionOf),
  google,
  replicate,
  runway,
  stability,
].toSorted((one, other) => (one.name < other.name ? -1 : 1));

/** A provider ready to be called with one of its keys. */
export interface BoundProvider extends Pick<ProviderDefinition, 'name' | 'submitTimeoutMs' | 'declaration'> {
  base: string;
  adapter: ProviderAdapter;
  /** Empty if this process has none. */
  keys: readonly OperatorKey[];
  /** A free call that proves the key. Undefined if none is declared. */
  check: KeyCheck | undefined;
  /** Whether its base URL is on the simulator. */
  simulated: boolean;
}

/** A provider and the key that the calls to it carry. Without one, nothing is sent. */
export interface KeyedProvider extends BoundProvider {
  key: ProviderKey | undefined;
}

/** Whether a reply rejects one of several keys, which proves that the run may be submitted with another one. */
export const mayUseAnother = (
  { keys, key }: Pick<KeyedProvider, 'keys' | 'key'>,
  { account }: ProviderFailure,
): boolean =>
  account !== undefined &&
  keys.some((each) => each === key) &&
  keys.some((each) => each !== key && each.weight > 0);

/** The prefix of a provider's settings. */
export const settingStem = (name: string): string =>
  `PROVIDER_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;

/** PROVIDER_<NAME>_BASE_URL and PROVIDER_<NAME>_KEY of each provider, and its additional settings. */
const settingsOf = (definitions: readonly ProviderDefinition[]) =>
  Object.fromEntries(
    definitions.flatMap(({ name, defaultBase, settings = {} }): [string, z.ZodType<string | undefined>][] => {
      const stem = settingStem(name);
      const base = baseUrl()
        .default(defaultBase)
        .meta({
          description: `Base URL of the ${name} API. Change it for a proxy or a test.`,
          example: defaultBase,
        });
      const key = z
        .string()
        .trim()
        .optional()
        .meta({
          description: `API key for ${name}, or several, one a line. While no worker has one, its models are not served.`,
          example: 'replace-me',
        });
      const own = Object.entries(settings).map(
        ([setting, { default: byDefault = '', ...about }]): [string, z.ZodType<string>] => [
          `${stem}_${setting}`,
          z.string().trim().default(byDefault).meta(about),
        ],
      );
      return [[`${stem}_BASE_URL`, base], [`${stem}_KEY`, key], ...own];
    }),
  ) satisfies SettingsShape;

export const providerSettings = settingsOf(providerList);

export const providerKeySettings = {
  PROVIDER_KEYS_DIR: z.string().min(1).optional().meta({
    description:
      'Directory with one file per provider, named after it, that contains its API key, or several, one a line. Files are reloaded when they change and take precedence over PROVIDER_…_KEY.',
    example: '/etc/model-router/keys',
  }),
};

export const simulatorSettings = {
  SIMULATOR_URL: baseUrl().optional().meta({
    description:
      'Address of the simulator. Providers whose base URL is on it are marked as simulated in lists, results and metrics.',
    example: 'http://127.0.0.1:8081',
  }),
};

/** Reads a key file at each binding, so that new providers and new keys need no restart. */
function keyFrom(directory: string | undefined, name: string): string | undefined {
  const file = directory === undefined ? undefined : join(directory, name);
  if (file === undefined || !existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  return text.trim() === '' ? undefined : text;
}

/**
 * Binds each provider to its base URL and key. `env` is the process's environment. Throws `BadSettings` with all
 * problems. `withoutKey` lists the providers without a key, so that startup can warn.
 */
export function bindProviders(
  env: Readonly<Record<string, string | undefined>>,
  definitions: readonly ProviderDefinition[] = providerList,
  keysDirectory?: string,
): { providers: Map<string, BoundProvider>; withoutKey: string[] } {
  const { SIMULATOR_URL: simulator } = readSettings(simulatorSettings, env);
  const settings = readSettings(settingsOf(definitions), env);
  const problems: string[] = [];
  const keysOf = (name: string, text: string | undefined, { exchange }: ProviderAdapter): OperatorKey[] => {
    try {
      const keys = readKeys(text);
      // Only a document that is exchanged for a token is not sent in a header.
      if (!exchange && keys.some(({ secret }) => secret.includes('\n')))
        throw new Error('line 2 belongs to no key: a key of this provider has one line');
      return keys;
    } catch (error) {
      problems.push(`${settingStem(name)}_KEY: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  };
  const bound = definitions.map(({ name, defaultBase, ...definition }): BoundProvider => {
    const stem = settingStem(name);
    const own = Object.fromEntries(
      Object.keys(definition.settings ?? {}).map((key) => [key, settings[`${stem}_${key}`] ?? '']),
    );
    const base = settings[`${stem}_BASE_URL`] ?? defaultBase;
    const adapter = definition.create(base, own);
    return {
      name,
      base,
      adapter,
      keys: keysOf(name, keyFrom(keysDirectory, name) ?? settings[`${stem}_KEY`], adapter),
      check: keyCheck({ ...definition, defaultBase }, base),
      simulated: simulator !== undefined && new URL(base).origin === new URL(simulator).origin,
      submitTimeoutMs: definition.submitTimeoutMs,
      declaration: definition.declaration,
    };
  });
  if (problems.length > 0) throw new BadSettings(problems);
  return {
    providers: new Map(bound.map((provider) => [provider.name, provider])),
    withoutKey: bound.filter(({ keys }) => keys.length === 0).map(({ name }) => name),
  };
}
