import { expect, it } from '@jest/globals';
import { gatewayForFile, jwtSecret } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const next = 'the-next-secret-of-tests-for-access-tokens';
const gateway = gatewayForFile({ JWT_SECRET: `${next}, ${jwtSecret}` });

it.each(generations)(
  '%s accepts tokens of the old and of the new JWT_SECRET, and no others',
  async (version) => {
    const { workspace } = await gateway().caller();
    const statusWith = async (secret: string) => {
      const headers = await bearer(workspace.id, 'catalog', secret);
      return (await fetch(`${gateway().url}/${version}/models`, { headers })).status;
    };
    expect(await statusWith(next)).toBe(200);
    expect(await statusWith(jwtSecret)).toBe(200);
    expect(await statusWith('a-secret-that-this-gateway-never-had-000')).toBe(401);
  },
);
