import { z } from 'zod';

const port = (byDefault: number) => z.coerce.number().int().min(0).max(65_535).default(byDefault);

export const simulatorSettings = {
  SIMULATOR_PORT: port(8081).meta({
    description: 'Port of the simulated provider APIs and of the admin routes; 0 takes any free port.',
    example: '8081',
  }),
  SIMULATOR_ASSET_PORT: port(8082).meta({
    description:
      'Port of the second listener, which serves all assets and those polling URLs that have a separate host; 0 takes any free port.',
    example: '8082',
  }),
  SIMULATOR_DEFAULT_MS: z.coerce.number().int().min(0).default(600).meta({
    description: 'How many milliseconds a simulated generation takes, unless its prompt says otherwise.',
    example: '600',
  }),
  SIMULATOR_LEDGER_FILE: z.string().optional().meta({
    description:
      'File to which every accepted submission is appended as a JSON line before it is answered; read at startup.',
    example: '.local/simulator-ledger.jsonl',
  }),
  SIMULATOR_KEYS_DIR: z.string().optional().meta({
    description:
      'Folder for account keys that the simulated providers accept: one file per provider, named after it. A worker reads it as its PROVIDER_KEYS_DIR.',
    example: '/trial-keys',
  }),
};
