import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { PNG } from 'pngjs';
import { withTools } from '../../harness/faults.js';
import { failOnLeftovers, waitFor } from '../../harness/index.js';
import { violations } from './accessibility.js';
import { calling } from './filled.js';
import { ShownConsole } from './shown.js';

const until = (isTrue: () => Promise<boolean>, what: string) => waitFor(isTrue, { withinMs: 20_000, what });

const { describeWith, tools } = await withTools('chromium');

describeWith('the page of a model', () => {
  let shown: ShownConsole;
  let page: Page;

  beforeAll(async () => {
    shown = await ShownConsole.start(tools.chromium);
    page = await shown.open('/models/bfl/flux-2-pro');
  });
  afterAll(() => shown.close());

  const prompt = () => page.getByRole('textbox', { name: /prompt/i });
  const run = () => page.getByRole('button', { name: /^Run/ }).click();
  const open = (path: string) => page.goto(`${shown.ready.base_url}/console${path}`);
  const runInAddress = () => new URL(page.url()).searchParams.get('run') ?? '';
  const values = async () =>
    page
      .locator('input, textarea')
      .evaluateAll((fields) => fields.map((field) => (field as unknown as { value: string }).value));
  const inputOf = (id: string) =>
    calling(shown.ready)<Record<string, unknown>>('GET', `/v2/requests/${id}/input`);
  /** Runs the model, waits for its result, and returns the ID of the run. */
  const result = async () => {
    const before = runInAddress();
    await run();
    await until(async () => runInAddress() !== before, 'the run in the address');
    await page.getByText(/^Billed/).waitFor();
    return runInAddress();
  };

  it('starts empty, with the example as a placeholder, and does not run without the required fields', async () => {
    await prompt().waitFor();
    expect([await prompt().inputValue(), await prompt().getAttribute('placeholder')]).toEqual([
      '',
      'Example: A lighthouse in a storm at dusk',
    ]);
    await run();
    await page.getByRole('alert').getByText('Complete the marked fields to run the model.').waitFor();
    expect(runInAddress()).toBe('');
  });

  it('fills in the example for all to see, and sends what it shows', async () => {
    await page.getByText('More inputs (15)').waitFor();
    await page.getByRole('button', { name: 'Try example' }).click();
    await page.getByText('More inputs (15, 2 set)').click();
    await page.getByLabel('Width').filter({ visible: true }).first().waitFor();
    const sent = await inputOf(await result());
    const shownValues = await values();
    expect(sent).toEqual({ prompt: 'A lighthouse in a storm at dusk', width: 1024, height: 1024 });
    for (const value of Object.values(sent)) expect(shownValues).toContain(String(value));
  });

  it('restores form, code and result of the run in its address', async () => {
    const [first, second] = ['A red fox', 'A grey wolf'];
    await prompt().fill(first);
    const earlier = await result();
    await prompt().fill(second);
    await result();
    await open(`/models/bfl/flux-2-pro?run=${earlier}`);
    await until(async () => (await prompt().inputValue()) === first, 'the prompt of the run');
    await page.getByText(`"prompt": "${first}"`).filter({ visible: true }).first().waitFor();
    await page.getByText(/^Billed/).waitFor();
  });

  it('keeps a draft on the way to another page and over a reload, and restores the input of the run', async () => {
    const shownRun = runInAddress();
    await prompt().fill('A draft');
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await open('/models/bfl/flux-2-pro');
    await until(async () => (await prompt().inputValue()) === 'A draft', 'the draft');
    await open(`/models/bfl/flux-2-pro?run=${shownRun}`);
    await until(async () => (await prompt().inputValue()) === 'A draft', 'the draft of this run');
    await page.getByText('The input has changed since this run.').waitFor();
    await page.getByRole('button', { name: 'Restore its input' }).click();
    await until(async () => (await prompt().inputValue()) === 'A red fox', 'the input of the run');
  });

  it('lists the last results, and a click restores input and output', async () => {
    const history = page.getByRole('region', { name: 'Recent results' });
    await until(async () => (await history.getByRole('link').count()) === 3, 'three results');
    await history.locator('img').first().waitFor();
    await history.getByRole('link').first().click();
    await until(async () => (await prompt().inputValue()) === 'A grey wolf', 'the input of the last run');
  });

  it('sends an output to another model, and shows the field that it fills', async () => {
    await page.getByRole('button', { name: 'Send to…' }).click();
    await page.getByRole('textbox', { name: 'Find a model that takes this file' }).fill('gen4_turbo');
    await page.getByRole('option', { name: /gen4_turbo/ }).click();
    await page.waitForURL(/runway\/gen4_turbo/);
    await page.getByText('Prompt image holds the output of bfl/flux-2-pro.').waitFor();
    await until(
      async () => (await values()).some((value) => value.includes('/assets/')),
      'the link in its field',
    );
  });

  it('points out an unknown field, with the one that was meant, and renames it', async () => {
    await open('/models/bfl/flux-2-pro?view=json');
    await page.getByRole('textbox', { name: 'JSON' }).fill('{"prompt":"A kite","hieght":1024}');
    await page.getByText('Did you mean “height”?').waitFor();
    await page.getByText('Form', { exact: true }).click();
    const extras = page.getByRole('region', { name: 'Also sent, without a field in this form' });
    await extras.getByText('hieght').waitFor();
    await extras.getByRole('button', { name: 'Rename' }).click();
    await extras.waitFor({ state: 'detached' });
    await until(async () => (await values()).includes('1024'), 'the height in its field');
  });

  it('leaves the members that name the model out of form and code', async () => {
    await open('/models/openai/gpt-image-2');
    await page.getByRole('button', { name: 'Try example' }).click();
    await page.getByText('"prompt"').first().waitFor();
    expect(await page.getByText('"model"').count()).toBe(0);
    expect(await page.getByLabel('Model', { exact: true }).count()).toBe(0);
  });

  it('shows samples of its own in the example of a model that takes files', async () => {
    await open('/models/bfl/flux-kontext-pro');
    await page.getByRole('button', { name: 'Try example' }).click();
    const image = page.locator('img[src*="/console/samples/"]').first();
    await until(
      async () =>
        (await image.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth)) > 0,
      'the sample to load',
    );
  });

  const upload = async (field: string, files: { name: string; mimeType: string; buffer: Buffer }[]) => {
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: field }).click(),
    ]);
    await chooser.setFiles(files);
  };
  const links = async () => (await values()).filter((value) => value.startsWith('http'));
  const hasLinks = (count: number) => until(async () => (await links()).length === count, `${count} files`);

  /** Shows all inputs of a model. */
  const openUnfolded = async (path: string) => {
    await open(path);
    await page.getByText(/^More inputs/).click();
  };

  it('takes a list of files from the disk, the clipboard and earlier outputs, in an order, and sends it', async () => {
    await openUnfolded('/models/fal/nano-banana-edit');
    await prompt().fill('Put them on one table');
    const field = page.getByRole('group', { name: 'Image URLs' });
    await upload('Image URLs: choose files', [
      file('a.png', 4),
      file('b.mp4', 4, 'video/mp4'),
      file('c.png', 5),
    ]);
    await field.getByRole('alert').getByText('b.mp4 wasn’t uploaded. The field takes images.').waitFor();
    await field.getByRole('button', { name: 'Dismiss b.mp4' }).click();
    await hasLinks(2);
    await copy(page, file('d.png', 6));
    const held: Route[] = [];
    await page.route('**/v2/files', (route) => void held.push(route));
    await field.getByRole('textbox').last().press('Control+v');
    const uploading = page.getByRole('button', { name: 'Uploading…' });
    await uploading.waitFor();
    expect(await uploading.isDisabled()).toBe(true);
    for (const route of held) await route.continue();
    await hasLinks(3);
    await page.getByRole('button', { name: /^Run/, disabled: false }).waitFor();
    await page.unrouteAll();
    const [a, c, d] = await links();
    await field.getByRole('button', { name: 'Move item 3 up' }).press('Enter');
    await until(async () => (await links()).join() === [a, d, c].join(), 'the keyboard’s order');
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Move item 2 up');
    await field.locator('[draggable=true]').nth(2).dragTo(field.locator('[draggable=true]').first());
    await until(async () => (await links()).join() === [c, a, d].join(), 'the dragged order');
    await field.getByRole('button', { name: 'Remove item 2' }).click();
    await field.getByRole('button', { name: 'Image URLs: browse files and outputs' }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByRole('button', { name: /^Output of FLUX.2 Pro/ })
      .first()
      .click();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Use 1 file' }).click();
    await hasLinks(3);
    const shownLinks = await links();
    expect(shownLinks.slice(0, 2)).toEqual([c, d]);
    expect(await inputOf(await result())).toEqual({
      prompt: 'Put them on one table',
      image_urls: shownLinks,
    });
  });

  it.each([
    ['bfl/erase-v1', [255, 255, 255, 255], [0, 0, 0, 255]],
    ['openai/gpt-image-2-edits', [0, 0, 0, 0], [0, 0, 0, 255]],
  ])('paints a mask of the size of the image, as %s reads it', async (model, painted, rest) => {
    await openUnfolded(`/models/${model}`);
    await upload('Image: choose', [file('room.png', 64)]);
    await hasLinks(1);
    await page.getByRole('button', { name: 'Paint a mask' }).click();
    const canvas = page.getByRole('img', { name: /^Mask on the image/ });
    await until(async () => (await canvas.getAttribute('width')) === '64', 'the size of the image');
    const dialog = page.getByRole('dialog');
    const button = (name: string) => dialog.getByRole('button', { name });
    await canvas.click({ position: { x: 5, y: 5 } });
    await button('Undo').click();
    expect(await button('Use mask').isDisabled()).toBe(true);
    // All but the centre, inverted, is the centre.
    await button('Invert').click();
    await dialog.getByText('Erase').click();
    await canvas.click();
    await button('Invert').click();
    expect(await violations(page)).toEqual([]);
    await button('Use mask').click();
    await hasLinks(2);
    const mask = PNG.sync.read(Buffer.from(await (await fetch((await links())[1] ?? '')).arrayBuffer()));
    const pixel = (x: number, y: number) => [...mask.data.subarray((y * 64 + x) * 4, (y * 64 + x) * 4 + 4)];
    expect([mask.width, mask.height, pixel(32, 32), pixel(2, 2)]).toEqual([64, 64, painted, rest]);
  });

  it('chooses an aspect ratio by its shape, with the keyboard', async () => {
    await openUnfolded('/models/luma/photon-1');
    const ratio = page.getByRole('radiogroup', { name: 'Aspect ratio' });
    await ratio.getByRole('radio', { name: '1:1', exact: true }).press('Space');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await ratio.getByRole('radio', { name: '9:16' }).isChecked()).toBe(true);
    await page.getByText('"aspect_ratio": "9:16"').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Clear Aspect ratio' }).click();
    await page.getByText('"aspect_ratio"').waitFor({ state: 'detached' });
  });

  it('shows a sample that an operator pinned, with its input in the form, until it is unpinned', async () => {
    await open('/models/bfl/flux-2-pro');
    await prompt().fill('a sample of a fox');
    const id = await result();
    await calling(shown.ready)('PATCH', '/v2/workspace', { allow_samples: true });
    const operator = await shown.open(`/runs/${id}`);
    const confirm = async (label: string) => {
      await operator.getByRole('button', { name: label }).click();
      await operator.getByRole('dialog').getByRole('button', { name: label }).click();
      await operator.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await confirm('Pin as a sample');
    await operator.getByRole('button', { name: 'Unpin' }).waitFor();
    await prompt().fill('something else');
    await page.reload();
    await page.getByRole('link', { name: 'Sample 1' }).click();
    for (const shows of ['after the click', 'after a reload']) {
      if (shows === 'after a reload') await page.reload();
      await until(async () => (await prompt().inputValue()) === 'a sample of a fox', `the input ${shows}`);
      await page.getByText('A sample that the operator chose.').waitFor();
      await page.getByRole('region', { name: 'Result' }).getByRole('img').first().waitFor();
    }
    expect(await violations(page)).toEqual([]);
    await confirm('Unpin');
    await operator.context().close();
    await open('/models/bfl/flux-2-pro');
    await page.getByRole('region', { name: 'Recent results' }).waitFor();
    expect(await page.getByRole('region', { name: 'Samples' }).count()).toBe(0);
  });

  it('never violated its security policy or contacted another server', () => {
    expect(shown.troubles).toEqual([]);
  });
});

const file = (name: string, side: number, mimeType = 'image/png') => ({
  name,
  mimeType,
  buffer: PNG.sync.write(new PNG({ width: side, height: side })),
});

/** Puts an image into the clipboard, as a copied screenshot. */
const copy = (page: Page, { buffer, mimeType }: ReturnType<typeof file>) =>
  page.evaluate(`navigator.clipboard.write([
    new ClipboardItem({ '${mimeType}': new Blob([Uint8Array.of(${[...buffer].join()})], { type: '${mimeType}' }) }),
  ])`);

failOnLeftovers();
