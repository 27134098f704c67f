import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { withTools } from '../../harness/faults.js';
import { failOnLeftovers, waitFor } from '../../harness/index.js';
import { violations } from './accessibility.js';
import { fill, type Filled } from './filled.js';
import { pages } from './pages.js';
import { keepScreenshot } from './screenshots.js';
import { ShownConsole } from './shown.js';
import type { Page } from 'playwright-core';

const { describeWith, tools } = await withTools('chromium');

describeWith('every page of the console', () => {
  let shown: ShownConsole;
  let filled: Filled;
  let keys: Record<'studio' | 'empty', string>;

  beforeAll(async () => {
    shown = await ShownConsole.start(tools.chromium);
    filled = await fill(shown.ready, shown.receiver);
    keys = {
      empty: await shown.keyOfNewWorkspace('empty'),
      studio: await shown.keyOfNewWorkspace('studio'),
    };
  });
  afterAll(() => shown.close());

  const views = pages.flatMap((page) =>
    (['desktop', 'phone'] as const).flatMap((size) =>
      (['light', 'dark'] as const).map((theme) => ({ ...page, size, theme })),
    ),
  );

  it.each(views)(
    '$name, $size, $theme: has no serious accessibility violations and does not overflow',
    async ({ path, text, act, as, ...view }) => {
      const page = await shown.open(path(filled), {
        ...view,
        ...(as !== undefined && { key: as === 'signed-out' ? null : keys[as] }),
      });
      await page.getByText(text).filter({ visible: true }).first().waitFor();
      await act?.(page);
      await settled(page);
      await keepScreenshot(page, view);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(await violations(page)).toEqual([]);
      await page.context().close();
    },
  );

  it.each([
    ['/runs', 'No runs yet'],
    ['/runs?state=IN_PROGRESS', 'No runs match these filters'],
    ['/usage', 'No runs in this period'],
    ['/files', 'No files'],
    ['/outputs', 'No outputs yet'],
    ['/outputs?only=kept', 'Nothing is kept'],
    ['/compare', 'Nothing to compare yet'],
    ['/webhooks', 'No deliveries'],
    ['/workspaces?q=nobody', 'No workspaces found'],
    ['/queues', 'No stuck runs'],
  ])('explains an empty list: %s', async (path, text) => {
    const isOperators = path.startsWith('/workspaces') || path.startsWith('/queues');
    const page = await shown.open(path, isOperators ? {} : { key: keys.empty });
    await page.getByText(text).first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  it('says what went wrong, and offers to try again', async () => {
    const page = await shown.open('/settings');
    await page.route('**/v2/requests?**', (route) =>
      route.fulfill({
        status: 503,
        headers: { 'x-service-error-type': 'service_unavailable', 'x-service-request-id': 'the-call' },
        json: { detail: 'The database does not answer.', error_type: 'service_unavailable' },
      }),
    );
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('alert').getByText('The database does not answer.').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Succeeded').first().waitFor();
    await page.context().close();
  });

  it.each([
    ['/runs/00000000-0000-7000-8000-000000000000', 'Run not found', 'Go to runs', 'Runs'],
    ['/models/bfl/none', 'Model not found', 'Go to models', 'Models'],
  ])('links from a missing page to its list: %s', async (path, said, action, title) => {
    const page = await shown.open(path, { size: 'phone' });
    const alert = page.getByRole('alert');
    await alert.getByRole('heading', { name: said }).waitFor();
    await settled(page);
    await keepScreenshot(page, { name: `missing-${title}`, size: 'phone', theme: 'light' });
    expect(await alert.textContent()).not.toMatch(/Try again|Correct the input|charged/);
    expect(await violations(page)).toEqual([]);
    await alert.getByRole('link', { name: action }).click();
    await page.getByRole('heading', { name: title, exact: true }).waitFor();
    await page.context().close();
  });

  it.each([
    ['/runs?model=xxxx', '“xxxx” isn’t a model ID'],
    ['/runs?key=xxxx', 'The link may be mistyped'],
  ])('explains an invalid filter in plain words: %s', async (path, said) => {
    const page = await shown.open(path);
    await page.getByText(said).waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().click();
    await page.getByText('Succeeded').first().waitFor();
    await page.context().close();
  });

  it('works by keyboard alone: opens a run from the list, then the command palette', async () => {
    const page = await shown.open('/runs');
    await page.getByText('Succeeded').first().waitFor();
    await tabTo(page, `document.activeElement.matches('[role=row] a')`);
    expect(await page.evaluate('getComputedStyle(document.activeElement, "::after").outlineStyle')).toBe(
      'solid',
    );
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Cost' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.context().close();
  });

  it('never violated its security policy or contacted another server', () => {
    expect(shown.troubles).toEqual([]);
  });
});

/** Waits until skeletons are gone and images have loaded. The page's policy forbids Playwright's `waitForFunction`. */
async function settled(page: Page): Promise<void> {
  await waitFor(
    () =>
      page.evaluate(`document.querySelector('.mantine-Skeleton-root') === null &&
      [...document.images].every((image) => image.complete || image.loading === 'lazy')`),
    { withinMs: 30_000, what: 'the page to finish loading' },
  );
  await page.evaluate('document.fonts.ready');
}

async function overflow(page: Page): Promise<number> {
  return (await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )) as number;
}

async function tabTo(page: Page, isThere: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await page.evaluate<boolean>(isThere)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('pressed Tab 60 times without reaching the element');
}

failOnLeftovers();
