import type { Page } from 'playwright-core';
import type { Filled } from './filled.js';

interface ShownPage {
  name: string;
  path: (filled: Filled) => string;
  /** Visible once the page has loaded. */
  text: string | RegExp;
  act?: (page: Page) => Promise<void>;
  /** `studio` is another workspace, because all slots of the filled one are taken. `empty` never runs anything. */
  as?: 'studio' | 'empty' | 'signed-out';
}

/** Every page of the console, in the states that look different. */
export const pages: ShownPage[] = [
  { name: 'sign-in', path: () => '/', text: 'API key or access token', as: 'signed-out' },
  { name: 'home', path: () => '/', text: 'Content rejected' },
  { name: 'home-empty', path: () => '/', text: 'Browse models', as: 'empty' },
  { name: 'models', path: () => '/models', text: 'FLUX.2 Pro' },
  { name: 'models-by-speed', path: () => '/models?sort=speed', text: /No model has been measured yet/ },
  { name: 'model', path: () => '/models/bfl/flux-2-pro', text: 'Describe the image to generate' },
  {
    name: 'model-run',
    path: () => '/models/meshy/meshy-6',
    text: 'No result yet',
    as: 'studio',
    act: async (page) => {
      await page.getByRole('button', { name: 'Try example' }).click();
      await page.getByRole('button', { name: /^Run/ }).click();
      await page.locator('canvas[data-shown]').first().waitFor();
    },
  },
  {
    name: 'model-filled',
    path: () => '/models/bfl/flux-kontext-pro',
    text: 'No result yet',
    as: 'studio',
    act: async (page) => {
      await page.getByRole('button', { name: 'Try example' }).click();
      await page.locator('img[src*="/console/samples/"]').first().waitFor();
    },
  },
  {
    name: 'model-unknown',
    path: () => '/models/bfl/flux-2-pro?view=json',
    text: 'No result yet',
    as: 'studio',
    act: async (page) => {
      await page.getByRole('textbox', { name: 'JSON' }).fill('{"prompt":"A kite","hieght":1024}');
      await page.getByText('Did you mean “height”?').waitFor();
      await page.getByText('Form', { exact: true }).click();
      await page.getByRole('button', { name: 'Rename' }).waitFor();
    },
  },
  {
    name: 'model-send',
    path: ({ succeeded }) => `/models/bfl/flux-2-pro?run=${succeeded}`,
    text: 'Billed $0.03',
    act: async (page) => {
      await page.getByRole('button', { name: 'Send to…' }).click();
      await page.getByRole('option').first().waitFor();
    },
  },
  {
    name: 'palette',
    path: () => '/models',
    text: 'FLUX.2 Pro',
    act: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('combobox').fill('key');
      await page.getByRole('option', { name: 'Create key' }).waitFor();
    },
  },
  {
    name: 'runs',
    path: () => '/runs',
    text: 'Succeeded',
    act: (page) => page.getByText('A slow pan over a harbour at night').first().waitFor(),
  },
  {
    name: 'runs-selected',
    path: () => '/runs',
    text: 'Succeeded',
    act: (page) =>
      page
        .getByRole('checkbox', { name: /^Select the run/ })
        .first()
        .check(),
  },
  {
    name: 'runs-bulk',
    path: () => '/runs',
    text: 'Succeeded',
    act: async (page) => {
      await page.getByRole('checkbox', { name: 'Select all' }).check();
      await page.getByRole('button', { name: 'Run again' }).click();
      await page.getByText(/^Each is queued as a new run/).waitFor();
    },
  },
  {
    name: 'run-share',
    path: ({ succeeded }) => `/runs/${succeeded}`,
    text: 'A lighthouse on a cliff',
    act: async (page) => {
      await page.getByRole('button', { name: 'Shared' }).click();
      await page.getByText('/console/shared/').waitFor();
    },
  },
  {
    name: 'shared',
    path: ({ shareToken }) => `/shared/${shareToken}`,
    text: 'A lighthouse on a cliff',
    as: 'signed-out',
    act: (page) => page.getByRole('region', { name: 'Output' }).getByRole('img').first().waitFor(),
  },
  { name: 'shared-gone', path: () => '/shared/x', text: 'This link doesn’t work', as: 'signed-out' },
  {
    name: 'compare',
    path: ({ succeeded, failed }) => `/compare?runs=${succeeded},${failed}`,
    text: 'The run failed',
  },
  {
    name: 'compare-models',
    path: () => '/compare?models=openai/gpt-image-2,runway/gen4_image',
    text: 'Not run yet',
    act: (page) => page.getByText('Complete the input to see the price.').first().waitFor(),
  },
  {
    name: 'outputs',
    path: () => '/outputs',
    text: /^expires in/,
    act: (page) =>
      page
        .getByRole('checkbox', { name: /^Select the output/ })
        .first()
        .check(),
  },
  {
    name: 'lightbox',
    path: ({ succeeded }) => `/outputs?show=${succeeded}`,
    text: 'Checker',
    act: (page) => page.getByRole('group', { name: /^Generated image/ }).waitFor(),
  },
  { name: 'run', path: ({ succeeded }) => `/runs/${succeeded}`, text: 'A lighthouse on a cliff' },
  { name: 'run-failed', path: ({ failed }) => `/runs/${failed}`, text: 'Content rejected' },
  {
    name: 'run-attempts',
    path: ({ failed }) => `/runs/${failed}`,
    text: 'The provider rejected the content under its content policy',
  },
  { name: 'run-live', path: ({ running }) => `/runs/${running}`, text: 'Cancel run' },
  { name: 'usage', path: () => '/usage', text: 'The 30 days before' },
  { name: 'usage-months', path: () => '/usage?range=12m', text: /^Budget team-monthly: \$1,000/ },
  { name: 'files', path: () => '/files', text: 'image/png' },
  { name: 'webhooks', path: () => '/webhooks', text: 'Delivered' },
  {
    name: 'webhook',
    path: () => '/webhooks?state=delivered',
    text: 'Delivered',
    act: async (page) => {
      await page
        .getByRole('link', { name: /^Details/ })
        .first()
        .click();
      await page.getByRole('dialog').getByText('HTTP 204').waitFor();
    },
  },
  {
    name: 'webhook-test',
    path: () => '/webhooks',
    text: 'Delivered',
    act: async (page) => {
      await page.getByRole('button', { name: 'Send test event' }).click();
      await page.getByRole('dialog').getByLabel('URL').waitFor();
    },
  },
  { name: 'keys', path: () => '/keys', text: 'nightly batch' },
  {
    name: 'key-new',
    path: () => '/keys',
    text: 'nightly batch',
    act: async (page) => {
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('mobile app');
    },
  },
  {
    name: 'key-rotate',
    path: () => '/keys',
    text: 'nightly batch',
    act: async (page) => {
      await page.getByRole('button', { name: 'Rotate web app' }).click();
      await page.getByRole('dialog').getByLabel('The old key').first().waitFor();
    },
  },
  { name: 'budgets', path: () => '/budgets', text: 'team-monthly' },
  {
    name: 'budget-edit',
    path: () => '/budgets',
    text: 'team-monthly',
    act: async (page) => {
      await page.getByRole('button', { name: 'Edit team-monthly' }).click();
      await page.getByRole('dialog').getByLabel('Time zone').waitFor();
    },
  },
  {
    name: 'settings',
    path: () => '/settings',
    text: 'Concurrent runs',
    act: async (page) => {
      await page.getByLabel('Provider').fill('recraft');
      await page.locator('form').getByLabel(/^Key/).fill('a-key-of-recraft-0042');
      await page.getByRole('button', { name: 'Set key' }).click();
      await page.getByText('…0042').waitFor();
    },
  },
  { name: 'guide', path: () => '/guide/quickstart', text: 'One call that waits' },
  { name: 'reference', path: () => '/reference', text: 'Submit a run and get its id and URLs' },
  { name: 'guide-error', path: () => '/guide/errors/forbidden', text: 'When it happens' },
  { name: 'workspaces', path: () => '/workspaces', text: 'demo' },
  {
    name: 'workspace-edit',
    path: () => '/workspaces',
    text: 'demo',
    act: (page) => page.getByRole('button', { name: 'Edit demo' }).click(),
  },
  {
    name: 'workspace-new',
    path: () => '/workspaces',
    text: 'demo',
    act: (page) => page.getByRole('button', { name: 'New workspace' }).click(),
  },
  {
    name: 'workspace-link',
    path: () => '/workspaces',
    text: 'demo',
    act: (page) => page.getByRole('button', { name: 'Sign-in link demo' }).click(),
  },
  {
    name: 'link',
    path: () => '/#code=rk_live_unused',
    text: 'Sign in with this link',
    as: 'signed-out',
  },
  { name: 'providers', path: () => '/providers', text: 'recraft' },
  { name: 'provider', path: () => '/providers/bfl', text: 'Submission slots' },
  { name: 'provider-attempts', path: () => '/providers/bfl', text: 'under its content policy' },
  { name: 'audit', path: () => '/audit', text: 'Key created' },
  { name: 'queues', path: () => '/queues', text: 'Running at the provider' },
];
