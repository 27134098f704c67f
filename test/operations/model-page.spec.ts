import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startBrowser, withTools } from '../harness/faults.js';
import { gatewayForFile } from '../routes/gateways.js';

const { describeWith, tools } = await withTools('chromium');
const gateway = gatewayForFile();
const model = 'bfl/flux-2-pro';

describe('GET /docs/models/{provider}/{model}', () => {
  it('is the same for models that there are and are not, and needs no credential', async () => {
    const pages = await Promise.all(
      [model, 'nobody/nothing'].map(async (id) => {
        const answer = await fetch(`${gateway().url}/docs/models/${id}`);
        return [answer.status, (await answer.text()).replaceAll(id, '')];
      }),
    );
    expect(pages[0]).toEqual(pages[1]);
  });
});

describeWith('the page of a model in a browser', () => {
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
    await page.goto(`${gateway().url}/docs/models/${model}`);
  });
  afterAll(() => browser.close());

  const show = async (credential: string) => {
    await page.getByLabel('API key or access token').fill(credential);
    await page.getByRole('button', { name: 'Show' }).click();
  };

  it('says what is wrong with a credential', async () => {
    await show('rk_live_nobodys');
    await page.getByText('The request carries no usable credential.').waitFor();
  });

  it('shows the fields of the input, and runs what is tried as the reader', async () => {
    const { caller } = await gateway().caller();
    await show(caller.key);
    await page.getByText('What the image should show').first().waitFor();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.locator('textarea.body-param__text').fill('{"prompt": 1}');
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('string_type').waitFor();
    expect(await page.getByRole('alert').isHidden()).toBe(true);
  });

  it('remembers the credential in this tab until it is forgotten', async () => {
    await page.reload();
    await page.getByRole('button', { name: 'Try it out' }).waitFor();
    await page.getByRole('button', { name: 'Forget it' }).click();
    await page.waitForFunction('document.getElementById("key").value === ""');
  });

  it('leads to the reference of all routes', async () => {
    await page.getByRole('link', { name: 'API reference' }).click();
    await page.getByText('Submit a run and get its handle').click();
    await page.getByText('The run is admitted.').waitFor();
  });

  it('breaks nothing of its own policy, and asks nobody else', () => {
    expect(troubles).toEqual([]);
  });
});
