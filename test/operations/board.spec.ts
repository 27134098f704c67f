import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { mkdirSync } from 'node:fs';
import os from 'node:os';
import { pathOf } from '../documents/checkout-files.js';
import { type App, startBrowser, System, withTools } from '../harness/faults.js';
import { type Caller, failOnLeftovers, transports, waitFor } from '../harness/index.js';

const { describeWith, tools } = await withTools('chromium');
const password = 'a-password-of-tests-0';
const model = 'bfl/flux-2-pro';

/** UPDATE_PICTURES=1 takes the screenshots of docs/operations again. */
const updating = process.env['UPDATE_PICTURES'] === '1';

describeWith.each(transports().filter((kind) => kind === 'redis'))(
  'the queue board in a browser (%s)',
  (transport) => {
    let system: System;
    let caller: Caller;
    let worker: App;
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      system = await System.start({ transport, takesMs: 600_000, env: { QUEUE_BOARD_PASSWORD: password } });
      worker = system.workers[0] as App;
      caller = await system.caller({ inflightLimit: 100 });
      browser = await startBrowser(tools.chromium);
      const context = await browser.newContext({
        httpCredentials: { username: 'operator', password },
        viewport: { width: 1280, height: 720 },
      });
      page = await context.newPage();
      page.setDefaultTimeout(60_000);
      // Web fonts: the board works without them, and a closed network has none.
      await page.route(
        (url) => url.hostname !== '127.0.0.1',
        (route) => route.abort(),
      );
    });
    afterAll(async () => {
      await browser.close();
      await system.stop();
    });

    it('is inaccessible without the password', async () => {
      const wrong = Buffer.from('operator:something-else').toString('base64');
      for (const path of [
        '/queues',
        '/queues/',
        '/queues/api/queues',
        '/queues/static/js/none.js',
        '/queues/nowhere',
      ]) {
        for (const authorization of ['', `Basic ${wrong}`, 'Bearer x']) {
          const reply = await fetch(`${worker.url}${path}`, { headers: { authorization } });
          expect([path, reply.status, reply.headers.get('www-authenticate')]).toEqual([
            path,
            401,
            'Basic realm="queues"',
          ]);
        }
      }
    });

    it('shows the queues and their jobs, which contain only the run’s id', async () => {
      const runs = await Promise.all(
        Array.from({ length: 5 }, (_each, index) => caller.submit(model, `{"prompt":"picture ${index}"}`)),
      );
      await waitFor(async () => (await system.provider.ledger()).length === runs.length, {
        withinMs: 60_000,
        what: 'the submissions',
      });
      await page.goto(`${worker.url}/queues`);
      await page.getByText('poll', { exact: true }).first().waitFor();
      await page.getByText('Loading').waitFor({ state: 'hidden' });
      if (updating) await picture('board');
      await page.goto(`${worker.url}/queues/queue/poll?status=delayed`);
      const [first] = runs;
      await page
        .getByText(first?.requestId.slice(0, 13) ?? '')
        .first()
        .waitFor();
      if (updating) await picture('board-queue');
      expect(await page.content()).not.toContain('picture 0');
    }, 300_000);

    it('has exactly one tab for each state of a job', async () => {
      expect(await tabs('/queues')).toEqual(['ALL', 'ACTIVE', 'WAITING', 'DELAYED']);
      expect(await tabs('/queues/queue/poll')).toEqual(['LATEST', 'ACTIVE', 'WAITING', 'DELAYED']);
    });

    it('names the workers of a queue', async () => {
      const name = `${os.hostname()}-${worker.pid}`;
      const reply = await page.request.get(`${worker.url}/queues/api/queues/poll/workers`);
      const { workers } = (await reply.json()) as { workers: { name: string }[] | null };
      expect(workers?.map((each) => each.name)).toEqual([name]);
      await page.goto(`${worker.url}/queues/queue/poll`);
      await page.getByLabel('Queue info').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Connected workers').click();
      await dialog.getByText(name).waitFor();
      if (updating) await picture('board-workers');
    });

    it('offers no changes, and rejects them', async () => {
      expect(
        await page.getByRole('button', { name: /pause|retry|clean|promote|empty|obliterate|add/i }).count(),
      ).toBe(0);
      const headers = { authorization: `Basic ${Buffer.from(`operator:${password}`).toString('base64')}` };
      for (const change of ['poll/pause', 'poll/promote', 'poll/empty', 'poll/obliterate']) {
        const reply = await fetch(`${worker.url}/queues/api/queues/${change}`, { method: 'PUT', headers });
        expect([change, reply.status]).toEqual([change, 405]);
      }
    });

    it('does not exist in a process without a password for it', async () => {
      expect((await fetch(`${(system.gateways[0] as App).internalUrl}/queues`)).status).toBe(404);
    });

    async function tabs(path: string): Promise<string[]> {
      await page.goto(`${worker.url}${path}`);
      await page.getByRole('link', { name: 'DELAYED' }).waitFor();
      const texts = await page.getByRole('link', { name: /^[A-Z ]+\d*$/ }).allInnerTexts();
      return texts.map((text) => text.replace(/\s*\d+$/, ''));
    }

    async function picture(name: string): Promise<void> {
      const folder = pathOf('docs/operations/pictures');
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: `${folder}/${name}.png` });
    }
  },
);

failOnLeftovers();
