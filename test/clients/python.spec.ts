import { describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { pathOf } from '../documents/checkout-files.js';
import { failOnLeftovers, sharedSystem, transports } from '../harness/index.js';
import { tinyImage } from './tiny-image.js';

const [transport = 'postgres'] = transports();

const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
if (!hasPython) {
  if (process.env['NO_SKIP'] === '1') throw new Error('NO_SKIP=1, but python3 3.9 or newer is not installed');
  process.stderr.write('skipping the tests of the Python client: python3 3.9 or newer is not installed\n');
}

(hasPython ? describe : describe.skip)('the Python client', () => {
  const system = sharedSystem(transport);

  it('passes the tests in python_client.py', async () => {
    const { key } = await system.caller();
    const { stderr } = await promisify(execFile)('python3', [pathOf('test/clients/python_client.py')], {
      env: {
        ...process.env,
        PYTHONPATH: pathOf('libs/client/python'),
        PYTHONDONTWRITEBYTECODE: '1',
        BASE_URL: system.gateways[0]?.url ?? '',
        API_KEY: key,
        IMAGE: tinyImage.toString('base64'),
      },
      timeout: 120_000,
    });
    expect(stderr).toMatch(/Ran 25 tests in .*\n\nOK\n$/s);
  });
});

failOnLeftovers();
