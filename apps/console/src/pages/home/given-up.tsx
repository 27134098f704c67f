import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { deliveriesQuery } from '../../api/webhooks.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import { DeliverySubject } from '../webhooks/delivery-parts.tsx';
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
              {first.data.slice(0, maxEntries).map((delivery) => (
                <Entry
                  key={delivery.request_id}
                  name={<DeliverySubject delivery={delivery} />}
                  detail={delivery.url}
                  aside={<Moment at={delivery.created_at} />}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Part>
  );
}
