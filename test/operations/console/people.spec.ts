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

  const leave = (page: Page) => page.getByRole('button', { name: 'Sign in through Test Login' }).click();
  async function signIn(page: Page, group: string): Promise<void> {
    identity.people.set(group, { groups: [group], workspace, email: `${group}@example.com` });
    await leave(page);
    await page.getByPlaceholder('Enter any login').fill(group);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
  }

  it.each([
    ['viewers', { '/runs': true, '/usage': true, '/keys': false, '/providers': false }],
    ['finance', { '/runs': false, '/usage': true, '/keys': false, '/providers': false }],
    ['developers', { '/runs': true, '/usage': true, '/keys': true, '/providers': false }],
    ['operators', { '/runs': true, '/usage': true, '/keys': true, '/providers': true }],
  ])('%s come back to the page they asked for, and see the pages of their role', async (group, pages) => {
    const page = await shown.open('/usage', { key: null });
    await signIn(page, group);
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    const isListed = await page.getByRole('navigation').getByRole('link', { name: 'Providers' }).count();
    expect(isListed > 0).toBe(pages['/providers']);
    for (const [path, mayRead] of Object.entries(pages)) {
      await page.goto(`${shown.ready.base_url}/console${path}`);
      const refusal = page.getByText(/needs the “\w+” scope|lacks the scope/).first();
      const content = page
        .getByRole('table')
        .or(page.getByRole('heading', { level: 2 }))
        .first();
      await refusal.or(content).waitFor();
      expect([path, await refusal.isVisible()]).toEqual([path, !mayRead]);
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
