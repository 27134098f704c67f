import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { NotFound } from './frame/not-found.tsx';
import { Shell } from './frame/shell.tsx';
import { budgetsSearch } from './pages/budgets/search.ts';
import { compareSearch } from './pages/compare/search.ts';
import { keysSearch } from './pages/keys/search.ts';
import { modelSearch } from './pages/model/search.ts';
import { modelsSearch } from './pages/models/search.ts';
import { auditSearch } from './pages/operator/audit-search.ts';
import { queuesSearch, workspacesSearch } from './pages/operator/search.ts';
import { referenceSearch } from './pages/reference/search.ts';
import { outputsSearch } from './pages/outputs/search.ts';
import { runsSearch } from './pages/runs/search.ts';
import { usageSearch } from './pages/usage/search.ts';
import { webhooksSearch } from './pages/webhooks/search.ts';
import { Failure } from './parts/failure.tsx';
import { PageSkeleton } from './parts/skeletons.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
/** Loads a page's code when it is first shown, or when a link to it is hovered. */
const lazyPage = (load: () => Promise<() => ReactNode>) =>
  lazyRouteComponent(async () => ({ default: await load() }));
const under = <Path extends string>(path: Path) => ({ getParentRoute: () => root, path }) as const;

const routes = [
  createRoute({
    ...under('/'),
    component: lazyPage(async () => (await import('./pages/home/home-page.tsx')).HomePage),
  }),
  createRoute({
    ...under('models'),
    validateSearch: modelsSearch,
    component: lazyPage(async () => (await import('./pages/models/models-page.tsx')).ModelsPage),
  }),
  createRoute({
    ...under('models/$provider/$model'),
    validateSearch: modelSearch,
    component: lazyPage(async () => (await import('./pages/model/model-page.tsx')).ModelPage),
  }),
  createRoute({
    ...under('compare'),
    validateSearch: compareSearch,
    component: lazyPage(async () => (await import('./pages/compare/compare-page.tsx')).ComparePage),
  }),
  createRoute({
    ...under('runs'),
    validateSearch: runsSearch,
    component: lazyPage(async () => (await import('./pages/runs/runs-page.tsx')).RunsPage),
  }),
  createRoute({
    ...under('runs/$requestId'),
    component: lazyPage(async () => (await import('./pages/runs/run-page.tsx')).RunPage),
  }),
  createRoute({
    ...under('shared/$token'),
    component: lazyPage(async () => (await import('./pages/shared/shared-page.tsx')).SharedPage),
  }),
  createRoute({
    ...under('outputs'),
    validateSearch: outputsSearch,
    component: lazyPage(async () => (await import('./pages/outputs/outputs-page.tsx')).OutputsPage),
  }),
  createRoute({
    ...under('usage'),
    validateSearch: usageSearch,
    component: lazyPage(async () => (await import('./pages/usage/usage-page.tsx')).UsagePage),
  }),
  createRoute({
    ...under('files'),
    component: lazyPage(async () => (await import('./pages/files/files-page.tsx')).FilesPage),
  }),
  createRoute({
    ...under('webhooks'),
    validateSearch: webhooksSearch,
    component: lazyPage(async () => (await import('./pages/webhooks/webhooks-page.tsx')).WebhooksPage),
  }),
  createRoute({
    ...under('keys'),
    validateSearch: keysSearch,
    component: lazyPage(async () => (await import('./pages/keys/keys-page.tsx')).KeysPage),
  }),
  createRoute({
    ...under('budgets'),
    validateSearch: budgetsSearch,
    component: lazyPage(async () => (await import('./pages/budgets/budgets-page.tsx')).BudgetsPage),
  }),
  createRoute({
    ...under('settings'),
    component: lazyPage(async () => (await import('./pages/settings/settings-page.tsx')).SettingsPage),
  }),
  createRoute({
    ...under('guide/$'),
    loader: async ({ params }) => (await import('./finding/guide-pages.ts')).guidePage(params._splat ?? ''),
    component: lazyPage(async () => (await import('./pages/guide/guide-page.tsx')).GuidePage),
  }),
  createRoute({
    ...under('reference'),
    validateSearch: referenceSearch,
    component: lazyPage(async () => (await import('./pages/reference/reference-page.tsx')).ReferencePage),
  }),
  createRoute({
    ...under('workspaces'),
    validateSearch: workspacesSearch,
    component: lazyPage(async () => (await import('./pages/operator/workspaces-page.tsx')).WorkspacesPage),
  }),
  createRoute({
    ...under('providers'),
    component: lazyPage(async () => (await import('./pages/operator/providers-page.tsx')).ProvidersPage),
  }),
  createRoute({
    ...under('providers/$provider'),
    component: lazyPage(async () => (await import('./pages/operator/provider-page.tsx')).ProviderPage),
  }),
  createRoute({
    ...under('queues'),
    validateSearch: queuesSearch,
    component: lazyPage(async () => (await import('./pages/operator/queues-page.tsx')).QueuesPage),
  }),
  createRoute({
    ...under('audit'),
    validateSearch: auditSearch,
    component: lazyPage(async () => (await import('./pages/operator/audit-page.tsx')).AuditPage),
  }),
];

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: PageSkeleton,
  defaultErrorComponent: ({ error, reset }) => <Failure error={error} retry={reset} />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
