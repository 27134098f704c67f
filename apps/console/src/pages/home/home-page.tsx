import { useQuery } from '@tanstack/react-query';
import { runListQuery } from '../../api/run-list.ts';
import { workspaceQuery } from '../../api/workspace.ts';
import { pagesFor } from '../../frame/navigation.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { texts } from '../../texts/index.ts';
import { BudgetsPart } from './budgets.tsx';
import { FailuresPart } from './failures.tsx';
import { GivenUpPart } from './given-up.tsx';
import classes from './home.module.css';
import { LatestPart } from './latest.tsx';
import { LivePart } from './live.tsx';
import { QueuesPart, StuckPart, TroubledPart } from './operation.tsx';
import { Quickstart } from './quickstart.tsx';
import { SpendPart } from './spend.tsx';

/** Each part, with the page that it belongs to: who may not use the page doesn't see the part. */
const rows = [
  [
    { of: '/usage', Part: SpendPart },
    { of: '/budgets', Part: BudgetsPart },
  ],
  [
    { of: '/runs', Part: LivePart },
    { of: '/runs', Part: FailuresPart },
    { of: '/webhooks', Part: GivenUpPart },
  ],
  [{ of: '/outputs', Part: LatestPart }],
  [
    { of: '/providers', Part: TroubledPart },
    { of: '/queues', Part: QueuesPart },
    { of: '/queues', Part: StuckPart },
  ],
];

export function HomePage() {
  const workspace = useQuery(workspaceQuery);
  return (
    <>
      <PageTitle title={texts.home.title} detail={texts.home.about} />
      {workspace.isPending ? <TableSkeleton /> : <Parts scopes={workspace.data?.credential.scopes} />}
    </>
  );
}

function Parts({ scopes }: { scopes: readonly string[] | undefined }) {
  const { own, operator } = pagesFor(scopes);
  const listed = new Set([...own, ...operator].map(({ to }) => to));
  const newest = useQuery({ ...runListQuery({ limit: 1 }, 10_000), enabled: listed.has('/runs') });
  const hasRuns = newest.data !== undefined && newest.data.data.length > 0;
  // A workspace whose runs can't be read may have none.
  const quickstart = (scopes?.includes('run') ?? true) && !newest.isLoading && (
    <Quickstart key={String(hasRuns)} isFolded={hasRuns} mayMakeKeys={listed.has('/keys')} />
  );
  return (
    <div className={classes.page}>
      {!hasRuns && quickstart}
      {rows
        .map((row) => row.filter(({ of }) => listed.has(of)))
        .filter((row) => row.length > 0)
        .map((row) => (
          <div key={row[0]?.of} className={classes.row}>
            {row.map(({ Part }) => (
              <Part key={Part.name} />
            ))}
          </div>
        ))}
      {hasRuns && quickstart}
    </div>
  );
}
