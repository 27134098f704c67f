import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { deliveriesQuery } from '../../api/webhooks.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import classes from './home.module.css';
import { Entry, maxEntries, Part } from './part.tsx';

/** The newest webhooks whose last attempt failed. */
export function GivenUpPart() {
  const deliveries = useInfiniteQuery(deliveriesQuery('given_up'));
  return (
    <Part
      title={
        <Link to="/webhooks" search={{ state: 'given_up' }}>
          {texts.home.givenUp}
        </Link>
      }
    >
      <Loaded query={deliveries} skeleton={<TableSkeleton rows={3} />}>
        {({ pages: [first] }) =>
          first === undefined || first.data.length === 0 ? (
            <StateMark tone="good">{texts.home.noGivenUp}</StateMark>
          ) : (
            <ul className={classes.list}>
              {first.data.slice(0, maxEntries).map(({ request_id: id, url, model, budget, created_at }) => (
                <Entry
                  key={id}
                  name={
                    budget === undefined ? (
                      <Link to="/runs/$requestId" params={{ requestId: id }}>
                        {model}
                      </Link>
                    ) : (
                      <Link to="/budgets">{budget}</Link>
                    )
                  }
                  detail={url}
                  aside={<Moment at={created_at} />}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Part>
  );
}
