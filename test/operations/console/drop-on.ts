import type { Locator, Page } from 'playwright-core';
import { PNG } from 'pngjs';

/** Drops a one-pixel PNG, as a browser does with a file dragged from a folder. */
export async function dropOn(page: Page, target: Locator): Promise<void> {
  const bytes = [...PNG.sync.write(new PNG({ width: 1, height: 1 }))];
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.of(${bytes.join()})], 'sketch.png', { type: 'image/png' }));
    return transfer;
  })()`);
  await target.dispatchEvent('drop', { dataTransfer });
}
