import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startBrowser, withTools } from '../harness/faults.js';
import { gatewayForFile } from '../routes/gateways.js';
import { violations } from './console/accessibility.js';
import { keepScreenshot } from './console/screenshots.js';

const { describeWith, tools } = await withTools('chromium');
const gateway = gatewayForFile();
const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

describeWith('GET /docs in a browser', () => {
  let browser: Browser;
  const troubles: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser(tools.chromium);
  });
  afterAll(() => browser.close());

  async function open(colorScheme: 'light' | 'dark' = 'light', key?: string): Promise<Page> {
    const context = await browser.newContext({ colorScheme, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.setDefaultTimeout(50_000);
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('console', (line) => {
      if (line.text().includes('Content Security Policy')) troubles.push(line.text());
    });
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== gateway().url) troubles.push(request.url());
    });
    if (key !== undefined)
      await page.addInitScript(`sessionStorage.setItem('model-router-credential', ${JSON.stringify(key)})`);
    await page.goto(`${gateway().url}/docs`);
    await page.getByRole('heading', { name: 'Queued runs' }).waitFor();
    return page;
  }

  it('shows every route with its answers, to people who have not signed in', async () => {
    const page = await open();
    await page.getByText('The run is admitted.').first().waitFor();
    const document = (await (await fetch(`${gateway().url}/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    const expected = Object.entries(document.paths).flatMap(([path, methods]) =>
      path.startsWith('/v1/') ? [] : Object.keys(methods),
    );
    expect(await page.getByRole('heading', { level: 3 }).count()).toBe(expected.length);
    await page.context().close();
  });

  it('finds routes, shows v1 on request, and links to each route', async () => {
    const page = await open();
    const routes = page.getByRole('heading', { level: 3 });
    const all = await routes.count();
    await page.getByLabel('Find a route').fill('cancel queued');
    expect(await routes.count()).toBeLessThan(5);
    await page.getByLabel('Find a route').fill('');
    await page.getByRole('switch', { name: 'Show v1 too' }).click();
    await page.waitForURL('**/reference?v1=true');
    expect(await routes.count()).toBeGreaterThan(all);
    await page.goto(`${gateway().url}/console/reference#v2SubmitRun`);
    await section(page, 'Submit a run and get its id and URLs').waitFor();
    await page.waitForFunction(
      `Math.abs(document.getElementById('v2SubmitRun').getBoundingClientRect().top) < 120`,
    );
    await page.context().close();
  });

  it('calls a route and shows the real answer', async () => {
    const { caller } = await gateway().caller({}, ['catalog']);
    const page = await open('light', caller.key);
    const models = section(page, 'List the models that can be run');
    await models.getByText('Python').click();
    await models.getByText('httpx.request').waitFor();
    await models.getByLabel('limit').fill('1');
    await models.getByText('limit=1').first().waitFor();
    await models.getByRole('button', { name: 'Send' }).click();
    await models.getByRole('status').getByText('200').waitFor();
    await models.getByRole('status').getByText('"next_cursor"').waitFor();
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)('is accessible, %s', async (theme) => {
    const page = await open(theme);
    await keepScreenshot(page, { name: 'reference', size: 'desktop', theme });
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  it('violates no rule of its policy, and requests nothing from other servers', () => {
    expect(troubles).toEqual([]);
  });
});
