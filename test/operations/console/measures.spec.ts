import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { withTools } from '../../harness/faults.js';
import { failOnLeftovers, waitFor } from '../../harness/index.js';
import { calling } from './filled.js';
import { addHistory } from './history.js';
import { ShownConsole } from './shown.js';

const { describeWith, tools } = await withTools('chromium');
const runs = 100_000;

describeWith('performance of the console', () => {
  let shown: ShownConsole;

  beforeAll(async () => {
    shown = await ShownConsole.start(tools.chromium);
    const { id: workspaceId, credential } = await calling(shown.ready)<{
      id: string;
      credential: { key_id: string };
    }>('GET', '/v2/workspace');
    await addHistory(shown.ready.database_url, { workspaceId, keyIds: [credential.key_id], runs, days: 90 });
  });
  afterAll(() => shown.close());

  it('loads at most 210 KB of compressed JavaScript for its first page', async () => {
    const page = await shown.open('/models');
    await page.getByText('FLUX.2 Pro').first().waitFor();
    const sizes = (await page.evaluate(`performance.getEntriesByType('resource')
      .filter(({ name }) => new URL(name).pathname.endsWith('.js')).map(({ encodedBodySize }) => encodedBodySize)`)) as number[];
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    process.stdout.write(`first page: ${Math.round(bytes / 1000)} KB of script in ${sizes.length} files\n`);
    expect(sizes.length).toBeGreaterThan(1);
    expect(bytes).toBeLessThanOrEqual(210_000);
    await page.context().close();
  });

  it('is usable within 1.5 s', async () => {
    // The best of five, because other tests may keep the machine busy.
    const times: number[] = [];
    for (let tries = 0; tries < 5; tries += 1) {
      const page = await shown.open('/models');
      await page.getByText('FLUX.2 Pro').first().waitFor();
      await page.getByLabel('Search by name, ID, or description').fill('kling');
      await page.getByText('FLUX.2 Pro').first().waitFor({ state: 'detached' });
      times.push(await page.evaluate<number>('performance.now()'));
      await page.context().close();
    }
    process.stdout.write(`searched after ${times.map(Math.round).join(', ')} ms\n`);
    expect(Math.min(...times)).toBeLessThanOrEqual(1_500);
  });

  it('renders only the visible rows of 100,000 runs, and loads more on scroll', async () => {
    const page = await shown.open('/runs');
    await page.getByRole('row').nth(5).waitFor();
    await waitFor(
      async () => {
        await page.evaluate('scrollTo(0, document.body.scrollHeight)');
        return (await height()) > 500 * 44;
      },
      { withinMs: 60_000, what: 'more runs' },
    );
    expect(await page.getByRole('row').count()).toBeLessThan(80);
    await page.context().close();

    async function height(): Promise<number> {
      return (await page.evaluate('document.body.scrollHeight')) as number;
    }
  });

  it('counts all runs in the usage', async () => {
    const page = await shown.open('/usage?range=12m&show=runs');
    await page.getByText(runs.toLocaleString('en-US'), { exact: true }).waitFor();
    await page.context().close();
  });
});

failOnLeftovers();
