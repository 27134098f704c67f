import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { withTools } from '../../harness/faults.js';
import { IdentityServer } from '../../harness/identity-server.js';
import { failOnLeftovers } from '../../harness/index.js';
import { violations } from './accessibility.js';
import { calling } from './filled.js';
import { keepScreenshot } from './screenshots.js';
import { ShownConsole } from './shown.js';

const { describeWith, tools } = await withTools('chromium');

describeWith('a person signs in through the identity provider', () => {
  let shown: ShownConsole;
  let identity: IdentityServer;
  let workspace: string;

  beforeAll(async () => {
    identity = await IdentityServer.start();
    shown = await ShownConsole.start(tools.chromium, {
      ...identity.settings,
      OIDC_VIEWER_GROUP: 'viewers',
      OIDC_BILLING_GROUP: 'finance',
      OIDC_DEVELOPER_GROUP: 'developers',
      OIDC_OPERATOR_GROUP: 'operators',
    });
    ({ id: workspace } = await calling(shown.ready)<{ id: string }>('GET', '/v2/workspace'));
  });
  afterAll(async () => {
    await shown.close();
    await identity.stop();
  });

  async function signIn(page: Page, group: string): Promise<void> {
    identity.people.set(group, { groups: [group], workspace, email: `${group}@example.com` });
    await page.getByRole('button', { name: 'Sign in through Test Login' }).click();
    await page.getByPlaceholder('Enter any login').fill(group);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
  }

  const own = ['Home', 'Models', 'Runs', 'Usage', 'Files', 'Webhooks', 'Keys', 'Settings'];
  const all = [...own, 'Workspaces', 'Providers', 'Queues', 'Audit'];

  it.each([
    ['viewers', own.filter((name) => name !== 'Keys')],
    ['finance', ['Home', 'Models', 'Usage', 'Settings']],
    ['developers', own],
    ['operators', all],
  ])('%s come back to the page they asked for, and see the pages of their role', async (group, pages) => {
    const page = await shown.open('/usage', { key: null });
    await signIn(page, group);
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    const listed = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    // Until the scopes are known, all pages of a workspace are listed.
    await page
      .getByRole('banner')
      .getByText(/ left$|Unlimited credits/)
      .waitFor();
    const names = (await listed.allInnerTexts()).filter((name) => all.includes(name));
    expect(names).toEqual(pages);
    for (const name of pages) {
      await listed.filter({ hasText: new RegExp(`^${name}$`) }).click();
      await page.getByRole('heading', { level: 1 }).filter({ hasText: name }).waitFor();
      expect([name, await page.getByText('Couldn’t load this').count()]).toEqual([name, 0]);
    }
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)('and is told why not, %s', async (theme) => {
    const page = await shown.open('/models', { key: null, theme, size: 'phone' });
    await signIn(page, 'strangers');
    await page.getByRole('alert').getByText('none of the groups').waitFor();
    expect(await violations(page)).toEqual([]);
    await keepScreenshot(page, { name: 'no-role', size: 'phone', theme });
    await page.context().close();
  });
});

failOnLeftovers();
