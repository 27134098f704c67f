import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { withTools } from '../../harness/faults.js';
import { failOnLeftovers, waitFor } from '../../harness/index.js';
import { violations } from './accessibility.js';
import { calling } from './filled.js';
import { keepScreenshot } from './screenshots.js';
import { ShownConsole } from './shown.js';

const { describeWith, tools } = await withTools('chromium');
const byMember = 'openai/gpt-5.5';
const byQuery = 'vertexai/gemini-2.5-flash';

/** The provider writes its last words long after the first ones. */
const slow = '[[sim:stream_pause=1500]]';

const input = (words: string, more: object = { stream: true }) =>
  JSON.stringify({ input: `Name three stone bridges. ${words}`, ...more });

describeWith('a text model in the console', () => {
  let shown: ShownConsole;
  let page: Page;

  beforeAll(async () => {
    shown = await ShownConsole.start(tools.chromium);
    page = await shown.open(`/models/${byMember}?view=json`);
  });
  afterAll(() => shown.close());

  const ask = <Body>(path: string) => calling(shown.ready)<Body>('GET', path);
  const result = () => page.getByRole('region', { name: 'Result', exact: true });
  const answer = () => result().getByRole('log', { name: 'Answer' });
  const run = () => page.getByRole('button', { name: /^Run/ }).click();
  const runInAddress = () => new URL(page.url()).searchParams.get('run') ?? '';
  const json = () => page.getByRole('textbox', { name: 'JSON' });
  const wordsOf = async () => (await answer().textContent()) ?? '';
  const statusOf = async () =>
    (await ask<{ status: string }>(`/v2/models/${byMember}/requests/${runInAddress()}/status`)).status;
  const open = (path: string) => page.goto(`${shown.ready.base_url}/console${path}`);
  const count = async () => (await ask<{ data: unknown[] }>('/v2/requests?limit=100')).data.length;
  const whole = async () => {
    await result()
      .getByText(/^Billed/)
      .waitFor();
    return wordsOf();
  };

  it('shows the words while they arrive, and then the finished run', async () => {
    await json().fill(input(slow));
    await run();
    await answer().waitFor();
    const first = await wordsOf();
    expect([await statusOf(), first.length > 0]).toEqual(['IN_PROGRESS', true]);
    expect(await answer().getAttribute('aria-live')).toBe('polite');
    await keepScreenshot(page, { name: 'text-stream', size: 'desktop', theme: 'light' });
    expect(await violations(page)).toEqual([]);
    const last = await whole();
    expect(last.startsWith(first)).toBe(true);
    expect(last.length).toBeGreaterThan(first.length);
    expect(await violations(page)).toEqual([]);
  });

  it('shows the same text after a reload and on the page of the run, above the events as they came', async () => {
    const id = runInAddress();
    const before = await wordsOf();
    await page.reload();
    expect(await whole()).toBe(before);
    await open(`/runs/${id}`);
    const output = page.getByRole('region', { name: 'Output' });
    await output.getByRole('log', { name: 'Answer' }).getByText(before).waitFor();
    await output.getByText('Raw events').click();
    const stored = await fetch(`${shown.ready.base_url}/v2/models/${byMember}/requests/${id}`, {
      headers: { 'x-api-key': shown.ready.api_key },
    });
    const events = await stored.text();
    expect(await output.locator('pre').textContent()).toBe(events);
    const download = page.waitForEvent('download');
    await output.getByRole('button', { name: 'Download' }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await download).createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe(events);
    expect(await violations(page)).toEqual([]);
  });

  it('keeps what arrived of a stream that breaks, above the failure of the run', async () => {
    await open(`/models/${byMember}?view=json`);
    await json().fill(input('[[sim:stream_reset]]'));
    await run();
    await result().getByRole('alert').getByText('The run failed').waitFor();
    expect((await wordsOf()).length).toBeGreaterThan(0);
    expect(await answer().getAttribute('aria-live')).toBe('off');
    await result()
      .getByText(/^You were billed/)
      .waitFor();
    await keepScreenshot(page, { name: 'text-broken', size: 'desktop', theme: 'light' });
    expect(await violations(page)).toEqual([]);
  });

  it('cancels a run that streams', async () => {
    await json().fill(input('[[sim:stream_pause=5000]]'));
    const before = runInAddress();
    await run();
    await waitFor(async () => runInAddress() !== before, { withinMs: 20_000, what: 'the run' });
    await answer().waitFor();
    await result().getByRole('button', { name: 'Cancel' }).click();
    await result().getByRole('status').getByText('Cancelled').waitFor();
    expect((await wordsOf()).length).toBeGreaterThan(0);
  });

  it('collects a run whose page was left', async () => {
    await json().fill(input(slow));
    const before = runInAddress();
    await run();
    await waitFor(async () => runInAddress() !== before, { withinMs: 20_000, what: 'the run' });
    const id = runInAddress();
    await open('/runs');
    await open(`/models/${byMember}?run=${id}`);
    expect((await whole()).length).toBeGreaterThan(0);
  });

  it('joins the run once if the connection breaks, and runs it once', async () => {
    await open(`/models/${byMember}?view=json`);
    await json().fill(input(''));
    const before = await count();
    let calls = 0;
    await page.route(`**/v2/models/${byMember}`, async (route) => {
      calls += 1;
      if (calls > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await run();
    await whole();
    expect([calls, (await count()) - before]).toEqual([2, 1]);
    await page.unrouteAll();
  });

  it('submits a queued run if the input requests no stream', async () => {
    await json().fill(input('', {}));
    const submitted = page.waitForRequest(/\/v2\/models\/openai\/gpt-5\.5(\/requests)?$/);
    await run();
    expect((await submitted).url()).toMatch(/\/requests$/);
    await result()
      .getByText(/^Billed/)
      .waitFor();
    expect(await answer().count()).toBe(0);
  });

  it.each([
    ['desktop', 'light'],
    ['desktop', 'dark'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const)('streams by a switch where the input has no member for it: %s, %s', async (size, theme) => {
    const other = await shown.open(`/models/${byQuery}`, { size, theme });
    await other.getByRole('button', { name: 'Try example' }).click();
    const byDefault = other.getByRole('switch', { name: 'Stream the answer' });
    expect(await byDefault.isChecked()).toBe(false);
    await byDefault.focus();
    await other.keyboard.press('Space');
    const called = other.waitForRequest(/\?alt=sse$/);
    await other.getByRole('button', { name: /^Run/ }).click();
    await called;
    await other.getByText(/^Billed/).waitFor();
    await other.getByRole('log', { name: 'Answer' }).waitFor();
    await other.getByRole('region', { name: 'Result', exact: true }).scrollIntoViewIfNeeded();
    await keepScreenshot(other, { name: 'text-model', size, theme });
    expect(await violations(other)).toEqual([]);
    await other.context().close();
  });

  it('never violated its security policy or contacted another server', () => {
    expect(shown.troubles).toEqual([]);
  });
});

failOnLeftovers();
