import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operatorRunsQuery, providersQuery, queuesQuery } from '../../api/operator.ts';
import { duration } from '../../parts/duration.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { count } from '../../parts/quantities.ts';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import { RunLink } from '../operator/operator-runs.tsx';
import { ProviderState } from '../operator/provider-parts.tsx';
import { isTroubled, troubledFirst } from '../operator/trouble.ts';
import classes from './home.module.css';
import { Entry, maxEntries, Part } from './part.tsx';

/** The providers that reject, throttle, fail or are paused. */
export function TroubledPart() {
  const providers = useQuery(providersQuery);
  return (
    <Part title={<Link to="/providers">{texts.home.troubled}</Link>}>
      <Loaded query={providers} skeleton={<TableSkeleton rows={3} />}>
        {({ data }) => {
          const troubled = data.filter(isTroubled).sort(troubledFirst);
          if (troubled.length === 0) return <StateMark tone="good">{texts.home.noTrouble}</StateMark>;
          return (
            <>
              <ul className={classes.list}>
                {troubled.slice(0, maxEntries).map((provider) => (
                  <Entry
                    key={provider.provider}
                    name={
                      <Link to="/providers/$provider" params={{ provider: provider.provider }}>
                        {provider.provider}
                      </Link>
                    }
                    detail={<ProviderState provider={provider} />}
                    aside={texts.home.waitingRuns(provider.pressure.waiting.runs)}
                  />
                ))}
              </ul>
              {troubled.length > maxEntries && <Link to="/providers">{texts.home.all(troubled.length)}</Link>}
            </>
          );
        }}
      </Loaded>
    </Part>
  );
}

/** The live runs of all workspaces by stage, with the age of the oldest. */
export function QueuesPart() {
  const queues = useQuery(queuesQuery);
  return (
    <Part title={<Link to="/queues">{texts.home.queues}</Link>}>
      <Loaded query={queues} skeleton={<TableSkeleton rows={3} />}>
        {({ runs }) => {
          const busy = runs.filter((stage) => stage.runs > 0);
          if (busy.length === 0) return <StateMark tone="good">{texts.home.idle}</StateMark>;
          return (
            <ul className={classes.list}>
              {busy.map((stage) => (
                <Entry
                  key={stage.state}
                  name={texts.queues.states[stage.state]}
                  detail={texts.providers.oldest(duration(stage.oldest_seconds * 1000))}
                  aside={count(stage.runs)}
                />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Part>
  );
}

/** The runs of all workspaces that make no progress. */
export function StuckPart() {
  const runs = useInfiniteQuery(operatorRunsQuery({ state: 'stuck' }));
  return (
    <Part title={<Link to="/queues">{texts.home.look}</Link>}>
      <Loaded query={runs} skeleton={<TableSkeleton rows={3} />}>
        {({ pages: [first] }) =>
          first === undefined || first.data.length === 0 ? (
            <StateMark tone="good">{texts.queues.none.stuck}</StateMark>
          ) : (
            <ul className={classes.list}>
              {first.data.slice(0, maxEntries).map((run) => (
                <Entry
                  key={run.request_id}
                  name={<RunLink run={run} />}
                  detail={run.reason && <StateMark tone="warn">{texts.queues.reasons[run.reason]}</StateMark>}
                  aside={run.workspace.name}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Part>
  );
}
