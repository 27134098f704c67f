import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { withTools } from '../../harness/faults.js';
import { failOnLeftovers, waitFor } from '../../harness/index.js';
import { dropOn } from './drop-on.js';
import { calling } from './filled.js';
import { ShownConsole } from './shown.js';

const { describeWith, tools } = await withTools('chromium');
const prompt = 'A red fox in the snow';

describeWith('the console, from the sign-in to a revoked key', () => {
  let shown: ShownConsole;
  let page: Page;

  beforeAll(async () => {
    shown = await ShownConsole.start(tools.chromium);
    page = await shown.open('/', { key: null });
  });
  afterAll(() => shown.close());

  it('rejects an unknown key, and signs in with a valid one', async () => {
    const field = page.getByLabel('API key or access token');
    await field.fill('rk_live_nobodys');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('That key or token isn’t valid.').waitFor();
    await field.fill(shown.ready.api_key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(page.url()).not.toContain(shown.ready.api_key);
  });

  it('starts with a command that runs a model, with the key of the session', async () => {
    await page.getByRole('button', { name: 'Copy command with this session’s key' }).click();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toContain(`-H 'X-API-Key: ${shown.ready.api_key}'`);
    const { stdout } = await promisify(execFile)('sh', ['-c', copied], { timeout: 60_000 });
    expect(JSON.parse(stdout)).toMatchObject({ result: { sample: expect.any(String) } });
    expect(await page.getByText(shown.ready.api_key).count()).toBe(0);
    await page.getByRole('link', { name: /^Result of bfl\/flux-2-pro/ }).waitFor();
    await page
      .getByRole('button', { name: 'Copy command with this session’s key' })
      .waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Models', exact: true }).click();
  });

  it('finds a model, runs it from its form, and shows the image; the simulator is named', async () => {
    await page.getByLabel('Search by name, ID, or description').fill('flux-2-pro');
    await page
      .getByRole('link', { name: /FLUX\.2 Pro/ })
      .first()
      .getByText('Simulated')
      .waitFor();
    await page
      .getByRole('link', { name: /FLUX\.2 Pro/ })
      .first()
      .click();
    await page.getByRole('textbox', { name: /prompt/i }).fill(prompt);
    await page.getByText('Simulated', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run', exact: false }).filter({ hasText: /^Run/ }).first().click();
    await page.getByText('Billed $0.03').waitFor();
    const image = page.getByRole('region', { name: 'Result' }).getByRole('img').first();
    await waitFor(async () => Number(await image.evaluate(({ naturalWidth }) => naturalWidth)) > 0, {
      withinMs: 20_000,
      what: 'the image to load',
    });
  });

  it('cancels a run at a provider that supports it', async () => {
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.getByLabel('Search by name, ID, or description').fill('fal/flux-dev');
    await page
      .getByRole('link', { name: /FLUX.*dev/i })
      .first()
      .click();
    await page.getByRole('textbox', { name: /prompt/i }).fill(`${prompt} [[sim:takes=300000]]`);
    await page.getByRole('button', { name: 'Run', exact: false }).filter({ hasText: /^Run/ }).first().click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('status').getByText('Cancelled').waitFor();
  });

  it('lists both runs, and shows the phases and cost of one', async () => {
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('cell').getByText('Cancelled').waitFor();
    await page.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: 'Succeeded' }).click();
    await page.getByRole('cell').getByText('Cancelled').waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('state')).toBe('succeeded');
    await page.getByRole('row').filter({ hasText: 'Succeeded' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Cost' }).waitFor();
    await page.getByText('$0.03', { exact: true }).waitFor();
    await page.getByText('Reported by the provider.').waitFor();
    await page.getByRole('status').getByText('Simulated').waitFor();
    await page.getByText(`"prompt": "${prompt}"`).filter({ visible: true }).first().waitFor();
    for (const phase of ['Queued', 'Dispatched', 'Generating', 'Copying assets']) {
      await page.getByRole('listitem').filter({ hasText: phase }).waitFor();
    }
  });

  it('says why the input of a run does not load, and loads it when asked again', async () => {
    const inputs = /\/v2\/requests\/[^/]+\/input$/;
    const input = page.getByRole('region', { name: 'Input' });
    await page.route(inputs, (route) => route.fulfill({ status: 400, json: { detail: 'No input today.' } }));
    await page.reload();
    await input.getByText('No input today.').waitFor();
    await page.unroute(inputs);
    await input.getByRole('button', { name: 'Try again' }).click();
    await input.getByText(`"prompt": "${prompt}"`).waitFor();
  });

  it('fills the form with the input of a run to run it again', async () => {
    await page.getByRole('link', { name: 'Run again with changes' }).click();
    await waitFor(
      async () => (await page.getByRole('textbox', { name: /prompt/i }).inputValue()) === prompt,
      {
        withinMs: 20_000,
        what: 'the form to show the input of the run',
      },
    );
  });

  it('runs once what is run again after its answer was lost', async () => {
    const submissions = /\/v2\/models\/bfl\/flux-2-pro\/requests$/;
    const ask = calling(shown.ready);
    const runs = async () => (await ask<{ data: unknown[] }>('GET', '/v2/requests?limit=100')).data.length;
    const before = await runs();
    const run = page.getByRole('button', { name: 'Run', exact: false }).filter({ hasText: /^Run/ }).first();
    await page.route(submissions, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await run.click();
    await page.getByRole('alert').waitFor();
    expect(await runs()).toBe(before + 1);
    await page.unroute(submissions);
    await run.click();
    await page.getByText('Billed $0.03').waitFor();
    expect(await runs()).toBe(before + 1);
  });

  it('uploads a file dropped on a field, and previews it', async () => {
    await page.goto(`${shown.ready.base_url}/console/models/luma/ray-2`);
    await page.getByText(/^More inputs/).click();
    const field = page.getByRole('textbox', { name: /URL/ }).first();
    await dropOn(page, field);
    await waitFor(async () => (await field.inputValue()).includes('/assets/'), {
      withinMs: 20_000,
      what: 'the URL of the uploaded file',
    });
    await page.locator('img[src*="/assets/"]').first().waitFor();
  });

  it.each([
    ['fal/veo-3.1-fast', 'video'],
    ['elevenlabs/eleven_v3', 'audio'],
    ['meshy/meshy-6', 'canvas'],
  ])('runs %s and shows its %s', async (model, element) => {
    await page.goto(`${shown.ready.base_url}/console/models/${model}`);
    await page.getByRole('button', { name: 'Try example' }).click();
    await page.getByRole('button', { name: 'Run', exact: false }).filter({ hasText: /^Run/ }).first().click();
    const medium = page.getByRole('region', { name: 'Result' }).locator(element).first();
    await medium.waitFor();
    await waitFor(
      () =>
        medium.evaluate(
          (node: { readyState?: number; dataset: Record<string, string> }) =>
            (node.readyState ?? 0) > 0 || node.dataset['shown'] === 'true',
        ),
      { withinMs: 20_000, what: `the ${element} to load` },
    );
  });

  it('uploads a file, lists it, and deletes it', async () => {
    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('heading', { name: 'Files', exact: true }).waitFor();
    const buffer = PNG.sync.write(new PNG({ width: 8, height: 8 }));
    await page.locator('input[type=file]').setInputFiles({ name: 'mask.png', mimeType: 'image/png', buffer });
    await dropOn(page, page.getByText('Drop files here, or'));
    const rows = page.getByRole('row').filter({ hasText: 'image/png' });
    for (const left of [3, 2, 1]) {
      await waitFor(async () => (await rows.count()) === left, { withinMs: 20_000, what: `${left} files` });
      await page
        .getByRole('button', { name: /^Delete/ })
        .first()
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    }
    await page.getByRole('heading', { name: 'No files' }).waitFor();
  });

  it('creates a key that works, shows it once, rotates it, and revokes it', async () => {
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('mobile app');
    await dialog.getByRole('button', { name: 'Run models' }).click();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const shownKey = async () => (await page.getByText(/^rk_live_\w+$/).textContent()) ?? '';
    const former = await shownKey();
    expect(await listed(shown, former)).toBe(200);
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    expect(await page.getByText(former).count()).toBe(0);
    await page.getByRole('button', { name: 'Rotate mobile app' }).click();
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await page.getByText('The old key ends').waitFor();
    const key = await shownKey();
    expect([await listed(shown, former), await listed(shown, key)]).toEqual([200, 200]);
    await page.getByText('Replaced by').waitFor();
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.getByRole('link', { name: 'Set a limit for “mobile app”' }).first().click();
    expect(await dialog.getByLabel('Value').inputValue()).toMatch(/^[0-9a-f-]{36}$/);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Revoke mobile app' }).first().click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page
      .getByRole('row', { name: /mobile app/ })
      .first()
      .getByText('Revoked')
      .waitFor();
    await waitFor(async () => (await listed(shown, key)) === 401, {
      withinMs: 10_000,
      what: 'the key to be rejected',
    });
  });

  it('lets an operator open a workspace and send its customer a link, which the customer uses', async () => {
    await page.getByRole('link', { name: 'Workspaces' }).click();
    await page.getByRole('button', { name: 'New workspace' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Workspace' }).fill('a customer');
    await dialog.getByRole('button', { name: 'New workspace' }).click();
    const url = (await dialog.getByText(/#code=rk_live_\w+$/).textContent()) ?? '';
    await dialog.getByRole('button', { name: 'I’ve saved both' }).click();
    await page.getByRole('cell', { name: /^a customer/ }).waitFor();
    expect(await page.getByText(url).count()).toBe(0);

    const customer = await shown.open(url.slice(url.indexOf('/#')), { key: null });
    await customer.getByRole('button', { name: 'Sign in' }).click();
    await customer.getByRole('link', { name: 'Keys' }).click();
    await customer.getByRole('cell', { name: /^first key/ }).waitFor();
    await customer.getByRole('cell', { name: /^Console session \(this session\)/ }).waitFor();
    await customer.context().close();
  });

  it('lets an operator pause a provider, with a reason, and resume it', async () => {
    const call = calling(shown.ready);
    const pauses = async () =>
      (await call<{ pauses: { reason: string }[] }>('GET', '/v2/operator/providers/bfl')).pauses;
    await page.getByRole('link', { name: 'Providers' }).click();
    await page.getByRole('link', { name: 'bfl', exact: true }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('their status page says so');
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('status').getByText('Paused').waitFor();
    await page.getByText('their status page says so').waitFor();
    expect(await pauses()).toMatchObject([{ reason: 'their status page says so' }]);
    await page.getByRole('button', { name: 'Resume' }).click();
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(await pauses()).toEqual([]);
  });

  it('lets an operator check the key of a provider, and shows the balance', async () => {
    await page.getByText('Nobody has checked the key yet.').waitFor();
    await page.getByRole('button', { name: 'Check key' }).click();
    await page.getByText('Accepted', { exact: true }).waitFor();
    await page.getByText('Balance: 1,250.5 credits').waitFor();
    const { check } = await calling(shown.ready)<{ check: object }>('GET', '/v2/operator/providers/bfl');
    expect(check).toMatchObject({ result: 'ok', http_status: 200 });
  });

  it.each([
    ['text/html', '<script>parent.hit = 1; top.hit = 1</script><img src=x onerror="hit = 1">'],
    [
      'image/svg+xml',
      '<svg xmlns="http://www.w3.org/2000/svg" onload="top.hit = 1"><script>top.hit = 1</script></svg>',
    ],
    [
      'application/json',
      JSON.stringify({
        images: [
          {
            url: `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" onload="top.hit=1"/>')}`,
          },
        ],
        url: 'javascript:hit=1',
        text: '<img src=x onerror="hit = 1"><script>hit = 1</script>',
      }),
    ],
  ])('never executes scripts in an output: %s', async (contentType, body) => {
    const call = calling(shown.ready);
    const { data } = await call<{ data: { request_id: string; error_type?: string }[] }>(
      'GET',
      '/v2/requests',
    );
    const id = data.find(({ error_type }) => error_type === undefined)?.request_id ?? '';
    const other = await shown.open('/settings');
    await other.route(`**/v2/models/*/*/requests/${id}`, (route) =>
      route.fulfill({ status: 200, headers: { 'content-type': contentType }, body }),
    );
    await other.evaluate(`history.pushState({}, '', '/console/runs/${id}')`);
    await other.evaluate(`dispatchEvent(new PopStateEvent('popstate'))`);
    await other.getByRole('region', { name: 'Output' }).locator('img, pre, p, summary').first().waitFor();
    await other.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300)))');
    expect(await other.evaluate('typeof hit')).toBe('undefined');
    expect(
      await other
        .locator('main script, main iframe, main object, main svg[onload], a[href^="javascript:"]')
        .count(),
    ).toBe(0);
    await other.context().close();
  });

  it('cancels, repeats and exports the selected runs, and says what became of them', async () => {
    const call = calling(shown.ready);
    const submit = () =>
      call('POST', '/v2/models/fal/flux-dev/requests', { prompt: `${prompt} [[sim:takes=300000]]` });
    await Promise.all([submit(), submit()]);
    const other = await shown.open('/runs?model=fal/flux-dev');
    const dialog = other.getByRole('dialog');
    const actOnAll = async (action: string, result: string) => {
      await other.getByRole('checkbox', { name: /^Select all/ }).check();
      await other.getByRole('button', { name: action, exact: true }).click();
      await dialog.getByRole('button', { name: action, exact: true }).click();
      await dialog.getByText(result).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).last().click();
      await other.getByRole('button', { name: 'Clear selection' }).click();
    };
    await actOnAll('Cancel runs', 'Cancellation requested for 2 runs.');
    await other.goto(`${shown.ready.base_url}/console/runs?state=succeeded&model=bfl/flux-2-pro`);
    await other.getByText(prompt).first().waitFor();
    await actOnAll('Redeliver', 'without a webhook.');
    await actOnAll('Run again', '3 runs queued.');
    await other.getByRole('button', { name: 'Export all' }).click();
    const saving = other.waitForEvent('download');
    await other.getByRole('menuitem', { name: 'JSON' }).click();
    const saved = JSON.parse(await readFile(await (await saving).path(), 'utf8')) as { model: string }[];
    expect(new Set(saved.map(({ model }) => model))).toEqual(new Set(['bfl/flux-2-pro']));
    await other.context().close();
  });

  it('shares a run with someone without an account, until the link is revoked', async () => {
    const call = calling(shown.ready);
    const { data } = await call<{ data: { request_id: string }[] }>(
      'GET',
      '/v2/requests?outcome=succeeded&model=bfl/flux-2-pro',
    );
    const other = await shown.open(`/runs/${data.at(-1)?.request_id}`);
    await other.getByRole('button', { name: 'Share', exact: true }).click();
    const dialog = other.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const url = (await dialog.getByText('/console/shared/').textContent()) ?? '';
    const visitor = await shown.open(new URL(url).pathname.replace('/console', ''), { key: null });
    await visitor.getByRole('region', { name: 'Output' }).getByRole('img').first().waitFor();
    await visitor.getByRole('region', { name: 'Input' }).getByText(prompt).waitFor();
    expect(await visitor.getByText('$').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Revoke link' }).click();
    await other.getByRole('button', { name: 'Share', exact: true }).waitFor();
    await visitor.reload();
    await visitor.getByText('This link doesn’t work').waitFor();
    await other.context().close();
    await visitor.context().close();
  });

  it('sends a test event, and shows what the receiver answered as text', async () => {
    const other = await shown.open('/webhooks');
    await other.getByRole('button', { name: 'Send test event' }).click();
    const dialog = other.getByRole('dialog');
    await dialog.getByLabel('URL').fill(`${shown.receiver.url}/markup`);
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.getByText('HTTP 503').waitFor();
    await dialog.getByText('<img src=x onerror="hit = 1">').waitFor();
    await dialog.getByText('"webhook.test"').waitFor();
    expect(await other.evaluate('typeof hit')).toBe('undefined');
    await other.context().close();
  });

  it('never violated its security policy or contacted another server', () => {
    expect(shown.troubles).toEqual([]);
  });
});

const listed = async ({ ready }: ShownConsole, key: string) =>
  (await fetch(`${ready.base_url}/v2/models?limit=1`, { headers: { 'X-API-Key': key } })).status;

failOnLeftovers();
