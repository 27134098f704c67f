import { z } from 'zod';

const port = (byDefault: number) => z.coerce.number().int().min(0).max(65_535).default(byDefault);

export const simulatorSettings = {
  SIMULATOR_PORT: port(8081).meta({
    description: 'Port of the simulated provider APIs and of the admin routes; 0 picks a free one.',
    example: '8081',
  }),
  SIMULATOR_ASSET_PORT: port(8082).meta({
    description:
      'Port of the second listener, which serves all assets, and polling URLs that differ from the API’s host; 0 picks a free one.',
    example: '8082',
  }),
  SIMULATOR_DEFAULT_MS: z.coerce.number().int().min(0).default(600).meta({
    description: 'Duration of a simulated generation whose prompt does not set one, in milliseconds.',
    example: '600',
  }),
  SIMULATOR_LEDGER_FILE: z.string().optional().meta({
    description:
      'File to which each accepted submission is appended as a JSON line before it is answered. The simulator reads it again at startup.',
    example: '.local/simulator-ledger.jsonl',
  }),
  SIMULATOR_KEYS_DIR: z.string().optional().meta({
    description:
      'Directory to which the simulator writes one file per provider with a key that it accepts. Set PROVIDER_KEYS_DIR of the worker to the same directory.',
    example: '/trial-keys',
  }),
};
