import { z } from 'zod';

const port = (byDefault: number) => z.coerce.number().int().min(0).max(65_535).default(byDefault);

export const simulatorSettings = {
  SIMULATOR_PORT: port(8081).meta({
    description: 'Port of the simulated provider APIs and of the admin routes; 0 takes any free port.',
    example: '8081',
  }),
  SIMULATOR_ASSET_PORT: port(8082).meta({
    description:
      'Port of the second listener, which serves polling URLs on a host of their own and all assets; 0 takes any free port.',
    example: '8082',
  }),
  SIMULATOR_DEFAULT_MS: z.coerce.number().int().min(0).default(600).meta({
    description: 'Milliseconds a simulated generation takes when its prompt does not say otherwise.',
    example: '600',
  }),
  SIMULATOR_LEDGER_FILE: z.string().optional().meta({
    description:
      'File that receives every accepted submission as a JSON line before it is answered; read again at start.',
    example: '.local/simulator-ledger.jsonl',
  }),
  SIMULATOR_KEYS_DIR: z.string().optional().meta({
    description:
      'Folder that receives a file per provider, named like it, with an account key that the provider takes: what PROVIDER_KEYS_DIR of a worker reads.',
    example: '/trial-keys',
  }),
};
