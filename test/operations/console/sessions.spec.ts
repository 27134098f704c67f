import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { withTools } from '../../harness/faults.js';
import { failOnLeftovers } from '../../harness/index.js';
import { calling } from './filled.js';
import { keepScreenshot } from './screenshots.js';
import { ShownConsole } from './shown.js';

const { describeWith, tools } = await withTools('chromium');
const prompt = (page: Page) => page.getByRole('textbox', { name: /prompt/i });
const use = (page: Page) => page.getByRole('button', { name: 'Sign in' }).click();
const allScopes = ['catalog', 'run', 'requests', 'usage', 'workspace', 'manage'];

describeWith('a console session', () => {
  let shown: ShownConsole;

  beforeAll(async () => {
    shown = await ShownConsole.start(tools.chromium);
  });
  afterAll(() => shown.close());

  const newKey = (scopes: string[]) =>
    calling(shown.ready)<{ id: string; key: string }>('POST', '/v2/keys', { name: 'a session', scopes });
  const revoke = (id: string) => calling(shown.ready)('DELETE', `/v2/keys/${id}`);
  const signIn = async (page: Page) => {
    await page.getByLabel('API key or access token').fill(shown.ready.api_key);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  it.each(['desktop', 'phone'] as const)(
    'says that it has ended, and restores the input after the next sign-in, %s',
    async (size) => {
      const { id, key } = await newKey(allScopes);
      const page = await shown.open('/models/bfl/flux-2-pro', { size, key });
      await prompt(page).fill('A paragraph that took an hour');
      await revoke(id);
      await page.getByRole('alert').getByText('Your session has ended').waitFor({ timeout: 60_000 });
      await keepScreenshot(page, { name: 'session-ended', size, theme: 'light' });
      await signIn(page);
      await prompt(page).waitFor();
      expect(await prompt(page).inputValue()).toBe('A paragraph that took an hour');
      await page.context().close();
    },
  );

  it('is that of every tab, until one of them signs out', async () => {
    const { key } = await newKey(allScopes);
    const first = await shown.open('/models', { key });
    const second = await first.context().newPage();
    await second.goto(first.url());
    await second.getByRole('button', { name: /^Workspace and session/ }).click();
    await second.getByRole('menuitem', { name: 'Sign out' }).click();
    for (const page of [first, second]) await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await first.context().close();
  });

  it('keeps no input after signing out', async () => {
    const { key } = await newKey(allScopes);
    const page = await shown.open('/models/bfl/flux-2-pro', { key });
    await prompt(page).fill('A secret');
    await page.getByRole('button', { name: /^Workspace and session/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('A secret');
    await page.context().close();
  });

  it('starts once per link; a used link says so, and leaves an existing session alone', async () => {
    const { url } = await calling(shown.ready)<{ url: string }>('POST', '/v2/sign-in/links');
    const path = url.slice(url.indexOf('/#'));
    const [first, second] = [
      await shown.open(path, { key: null }),
      await shown.open(path, { key: null, size: 'phone' }),
    ];
    // Opening the link does not use it up: programs that check messages do that too.
    await keepScreenshot(second, { name: 'link', size: 'phone', theme: 'light' });
    expect([first.url(), second.url()].some((url) => url.includes('code='))).toBe(false);
    await use(first);
    await first.getByRole('heading', { name: 'Home' }).waitFor();
    await use(second);
    await second.getByRole('alert').getByText('This sign-in link no longer works').waitFor();
    await second.getByLabel('API key or access token').waitFor();
    await keepScreenshot(second, { name: 'link-spent', size: 'phone', theme: 'light' });
    const signedIn = await shown.open(path, { size: 'phone' });
    await signedIn.getByText('ends the current session').waitFor();
    await use(signedIn);
    await signedIn.getByRole('alert').getByText('Your current session is still active.').waitFor();
    await signedIn.getByRole('heading', { name: 'Home' }).waitFor();
    await keepScreenshot(signedIn, { name: 'link-spent-signed-in', size: 'phone', theme: 'light' });
    await signedIn.getByRole('alert').getByRole('button', { name: 'Close' }).click();
    expect(await signedIn.getByRole('alert').count()).toBe(0);
    for (const page of [first, second, signedIn]) await page.context().close();
  });

  it.each(['desktop', 'phone'] as const)('names the scope that a page needs, %s', async (size) => {
    const { key } = await newKey(['requests', 'workspace']);
    const page = await shown.open('/webhooks', { size, key });
    await page.getByText('This needs the “manage” scope').waitFor();
    await keepScreenshot(page, { name: 'without-manage', size, theme: 'light' });
    await page.context().close();
    const other = await shown.open('/models', { size, key: (await newKey(['catalog'])).key });
    await other.getByText('Credits hidden').hover();
    await other.getByText('This needs the “workspace” scope').waitFor();
    await keepScreenshot(other, { name: 'without-workspace', size, theme: 'light' });
    await other.context().close();
  });
});

failOnLeftovers();
