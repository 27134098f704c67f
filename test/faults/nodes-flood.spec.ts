import { expect, it } from '@jest/globals';
import { fillRegistry } from '../registry/many-nodes.js';
import { gatewayForFile } from '../routes/gateways.js';

const gateway = gatewayForFile({
  TRUSTED_PROXIES: '127.0.0.1',
  DATABASE_ACQUIRE_MS: '2000',
  DATABASE_STATEMENT_MS: '5000',
  REGISTRY_READS_PER_MINUTE: '6000',
});
const floodMs = 15_000;

it('the registry answers one address while another floods it', async () => {
  await fillRegistry(await gateway().database.dataSource(), 20_000, 1);
  let page = 0;
  const read = async (address: string) => {
    const beganMs = performance.now();
    const answer = await fetch(
      `${gateway().url}/nodes?latest=true&sort=downloads&page=${(page += 1) % 200}`,
      {
        headers: { 'x-forwarded-for': address },
      },
    );
    const body = (await answer.json()) as { error?: string };
    return {
      outcome: answer.status === 200 ? 'read' : `${answer.status} ${body.error}`,
      ms: performance.now() - beganMs,
    };
  };
  expect((await read('192.0.2.1')).outcome).toBe('read');

  const flood: Record<string, number> = {};
  const untilMs = performance.now() + floodMs;
  const flooding = Array.from({ length: 400 }, async () => {
    while (performance.now() < untilMs) {
      const { outcome } = await read('192.0.2.66');
      flood[outcome] = (flood[outcome] ?? 0) + 1;
      // This process also has to read the answers to the flood.
      if (outcome !== 'read') await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
  const others: Awaited<ReturnType<typeof read>>[] = [];
  while (performance.now() < untilMs) {
    others.push(await read(`192.0.2.${others.length % 20}`));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await Promise.all(flooding);
  const slowest = Math.round(Math.max(...others.map(({ ms }) => ms)));
  process.stderr.write(
    `flood: ${JSON.stringify(flood)}, others: ${others.length} pages, slowest ${slowest} ms\n`,
  );
  expect(new Set(others.map(({ outcome }) => outcome))).toEqual(new Set(['read']));
  expect(Object.keys(flood).sort()).toEqual(['500 rate_limited', 'read']);
});
