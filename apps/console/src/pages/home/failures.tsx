import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { runListQuery } from '../../api/run-list.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Moment, useNow } from '../../parts/moment.tsx';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import { failuresByError } from './failures-by-error.ts';
import classes from './home.module.css';
import { Entry, maxEntries, Part } from './part.tsx';

const pollMs = 15_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;
const maxRuns = 100;

/** The runs of the last hour that failed, by error. As in the list of runs, the hour counts from their admission. */
export function FailuresPart() {
  // To the minute, so that the query stays the same for a while.
  const fromMs = Math.floor((useNow(minuteMs) - hourMs) / minuteMs) * minuteMs;
  const failed = useQuery({
    ...runListQuery({ outcome: 'failed', from: new Date(fromMs).toISOString(), limit: maxRuns }, pollMs),
    placeholderData: keepPreviousData,
  });
  return (
    <Part
      title={
        <Link to="/runs" search={{ state: 'failed', range: 'hour' }}>
          {texts.home.failures}
        </Link>
      }
    >
      <Loaded query={failed} skeleton={<TableSkeleton rows={3} />}>
        {({ data, has_more: isMore }) =>
          data.length === 0 ? (
            <StateMark tone="good">{texts.home.noFailures}</StateMark>
          ) : (
            <ul className={classes.list}>
              {failuresByError(data)
                .slice(0, maxEntries)
                .map(({ error, runs, newest }) => (
                  <Entry
                    key={error}
                    name={
                      <Link to="/runs" search={{ state: 'failed', error, range: 'hour' }}>
                        <StateMark tone="bad">{texts.buckets[error].name}</StateMark>
                      </Link>
                    }
                    detail={
                      <>
                        {texts.home.newest}{' '}
                        <Link to="/runs/$requestId" params={{ requestId: newest.request_id }}>
                          {newest.model}
                        </Link>
                        , <Moment at={newest.created_at} />
                      </>
                    }
                    aside={isMore ? texts.home.atLeast(runs) : texts.home.runs(runs)}
                  />
                ))}
            </ul>
          )
        }
      </Loaded>
    </Part>
  );
}
