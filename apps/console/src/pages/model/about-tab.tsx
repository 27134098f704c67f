import { Link } from '@tanstack/react-router';
import type { ModelEntry } from '../../api/models.ts';
import { texts } from '../../texts/index.ts';
import { measuredText } from '../models/measured.tsx';
import classes from './model.module.css';

const { about } = texts.model;

/** Price, providers, lifecycle and aliases of the model. */
export function AboutTab({ entry }: { entry: ModelEntry }) {
  const { price, measured, added, lifecycle, aliases, servers, billing } = entry;
  const successor = lifecycle?.successor?.split('/');
  return (
    <dl className={classes.about}>
      <dt>{about.price}</dt>
      <dd>
        <code>{price.text}</code>
        {price.date !== undefined && <span className="dimmed"> {about.read(price.date)}</span>}
        {price.next !== undefined && (
          <div>
            {about.next(price.next.from)} <code>{price.next.text}</code>
          </div>
        )}
      </dd>
      <dt>{about.measured}</dt>
      <dd>
        {measured === undefined ? <span className="dimmed">{about.unmeasured}</span> : measuredText(measured)}
      </dd>
      <dt>{about.rejection}</dt>
      <dd>{about.rejections[billing.charges_on_policy_rejection]}</dd>
      <dt>{about.servers}</dt>
      <dd>{servers.join(', ')}</dd>
      <dt>{about.life}</dt>
      <dd>
        {added !== undefined && `${about.added(added)} `}
        {lifecycle === undefined ? about.noEnd : texts.models.ends(lifecycle.ends)}
        {successor !== undefined && (
          <>
            {', '}
            {about.instead}{' '}
            <Link
              to="/models/$provider/$model"
              params={{ provider: successor[0] ?? '', model: successor[1] ?? '' }}
            >
              {lifecycle?.successor}
            </Link>
          </>
        )}
      </dd>
      {aliases.length > 0 && (
        <>
          <dt>{about.aliases}</dt>
          <dd className={classes.aliases}>
            {aliases.map((alias) => (
              <code key={alias}>{alias}</code>
            ))}
          </dd>
        </>
      )}
    </dl>
  );
}
