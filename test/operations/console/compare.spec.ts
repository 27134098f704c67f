import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { withTools } from '../../harness/faults.js';
import { failOnLeftovers, waitFor } from '../../harness/index.js';
import { calling } from './filled.js';
import { ShownConsole } from './shown.js';

const until = (isTrue: () => Promise<boolean>, what: string) => waitFor(isTrue, { withinMs: 20_000, what });

const { describeWith, tools } = await withTools('chromium');

describeWith('comparing models, and keeping outputs', () => {
  let shown: ShownConsole;
  let page: Page;

  beforeAll(async () => {
    shown = await ShownConsole.start(tools.chromium);
    page = await shown.open('/models/bfl/flux-2-pro');
  });
  afterAll(() => shown.close());

  const open = (path: string) => page.goto(`${shown.ready.base_url}/console${path}`);
  const runs = () => (new URL(page.url()).searchParams.get('runs') ?? '').split(',').filter(Boolean);
  const get = <T>(path: string) => calling(shown.ready)<T>('GET', path);
  const column = (model: string) => page.getByRole('region', { name: model });

  it('runs one input on two models, maps it, and shows what is not sent and the price before', async () => {
    await page.getByRole('textbox', { name: /prompt/i }).fill('A red fox');
    await page.getByText('More inputs (15)').click();
    await page.getByLabel('Prompt upsampling').or(page.getByText('Safety tolerance')).first().waitFor();
    await page.getByRole('spinbutton', { name: 'Width' }).or(page.getByLabel('Width')).first().fill('1024');
    await page.getByLabel('Height').first().fill('1024');
    await page.getByLabel('Safety tolerance').last().fill('3');
    await page.getByRole('button', { name: 'Compare with…' }).click();
    await page.getByRole('textbox', { name: 'Find a model of the same task' }).fill('openai/gpt-image-2');
    await page.getByRole('option', { name: 'openai/gpt-image-2' }).first().click();
    await page.getByRole('heading', { name: 'Compare' }).waitFor();
    await column('openai/gpt-image-2').getByText('Not sent: safety_tolerance').waitFor();
    await page.getByText(/^About \$[\d.]+ for 2 runs$/).waitFor();
    await page.getByRole('button', { name: 'Run 2 models' }).click();
    await until(async () => runs().length === 2, 'the runs in the address');
    const inputs = await Promise.all(runs().map((run) => get(`/v2/requests/${run}/input`)));
    expect(inputs).toEqual([
      { prompt: 'A red fox', width: 1024, height: 1024, safety_tolerance: 3 },
      { prompt: 'A red fox', size: '1024x1024' },
    ]);
    for (const model of ['bfl/flux-2-pro', 'openai/gpt-image-2'])
      await column(model)
        .getByText(/^\d+ × \d+ · \d/)
        .waitFor();
  });

  it('shows the same after a reload', async () => {
    const [one, other] = runs();
    await page.reload();
    await column('bfl/flux-2-pro').locator(`a[href$="/runs/${one}"]`).waitFor();
    await column('openai/gpt-image-2').locator(`a[href$="/runs/${other}"]`).waitFor();
    await column('openai/gpt-image-2')
      .getByText(/^\d+ × \d+ · \d/)
      .waitFor();
    await page.getByRole('group').getByText('A red fox').first().waitFor();
  });

  it('compares runs that are selected in the list', async () => {
    await open('/runs');
    for (const nth of [0, 1])
      await page
        .getByRole('checkbox', { name: /^Select the run/ })
        .nth(nth)
        .check();
    await page.getByRole('link', { name: 'Compare' }).click();
    await until(async () => runs().length === 2, 'the runs in the address');
    await page.getByText('Fastest').or(page.getByText('Lowest')).first().waitFor();
  });

  it('keeps an output without expiry, lists it, and enlarges it by keyboard', async () => {
    await open('/outputs');
    await page
      .getByText(/^expires in/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Keep' }).first().click();
    await page.getByRole('button', { name: 'Kept' }).waitFor();
    const { data } = await get<{ data: { kept?: boolean; expires_at?: string }[] }>('/v2/requests?kept=true');
    expect(data).toMatchObject([{ kept: true }]);
    await page.getByText('Kept', { exact: true }).first().click();
    await until(
      async () => (await page.getByRole('button', { name: /^Show the output/ }).count()) === 1,
      'only the kept output',
    );
    await page.getByRole('button', { name: /^Show the output/ }).click();
    const picture = page.getByRole('group', { name: /^Generated image/ });
    await picture.press('+');
    await page.getByText('140%').waitFor();
    await page
      .getByRole('dialog')
      .getByText(/a-red-fox-[0-9a-f]{4}\.\w+$/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it('saves the selected outputs as one archive, whose names say model and prompt', async () => {
    await open('/outputs');
    for (const name of [/^Select the output of FLUX.2 Pro/, /^Select the output of GPT Image 2,/])
      await page.getByRole('checkbox', { name }).first().check();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as ZIP' }).click();
    const archive: Buffer[] = [];
    for await (const chunk of await (await saving).createReadStream()) archive.push(chunk as Buffer);
    const names = Buffer.concat(archive)
      .toString('latin1')
      .match(/[\w.-]+-a-red-fox-[0-9a-f]{4}\.\w{3,4}/g);
    expect(new Set(names?.map((name) => name.replace(/-a-red.*/, '')))).toEqual(
      new Set(['flux-2-pro', 'gpt-image-2']),
    );
  });

  it('never violated its security policy or contacted another server', () => {
    expect(shown.troubles).toEqual([]);
  });
});

failOnLeftovers();
