import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startBrowser, withTools } from '../harness/faults.js';
import { gatewayForFile } from '../routes/gateways.js';

const { describeWith, tools } = await withTools('chromium');
const gateway = gatewayForFile();

describeWith('GET /docs in a browser', () => {
  let browser: Browser;
  let page: Page;
  const troubles: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser(tools.chromium);
    page = await browser.newPage();
    page.setDefaultTimeout(50_000);
    page.on('pageerror', (error) => troubles.push(error.message));
    page.on('console', (line) => {
      if (line.text().includes('Content Security Policy')) troubles.push(line.text());
    });
    page.on('requestfailed', (request) => troubles.push(request.url()));
    await page.goto(`${gateway().url}/docs`);
  });
  afterAll(() => browser.close());

  it('shows every route and its answers', async () => {
    await page.getByText('Submit a run and get its id and URLs').click();
    await page.getByText('The run is admitted.').waitFor();
  });

  it('violates no rule of its policy, and requests nothing from other servers', () => {
    expect(troubles).toEqual([]);
  });

  it('links to the models in the console', async () => {
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.waitForURL('**/console/models**');
  });
});
