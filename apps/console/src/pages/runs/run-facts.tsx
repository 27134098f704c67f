import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RunDetail } from '../../api/run.ts';
import { DeliveryState, Redeliver } from '../webhooks/delivery-parts.tsx';
import { Moment } from '../../parts/moment.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { texts } from '../../texts/index.ts';
import classes from './run-page.module.css';

export function RunCost({ run: { cost_cents, cost_basis, reserved_cents } }: { run: RunDetail }) {
  const reserved = dollarsOfCents(reserved_cents);
  return (
    <section className={classes.section}>
      <h2>{texts.run.cost}</h2>
      {cost_cents === undefined ? (
        <p>{texts.run.reserved(reserved)}</p>
      ) : (
        <>
          <p className={`figures ${classes.amount}`}>{dollarsOfCents(cost_cents)}</p>
          <p className="dimmed">
            {cost_basis === undefined ? texts.run.notBilled : texts.run.basis[cost_basis]}
            {cost_basis !== undefined && ` ${texts.run.wasReserved(reserved)}`}
          </p>
        </>
      )}
    </section>
  );
}

export function RunFacts({ run }: { run: RunDetail }) {
  const [provider = '', model = ''] = run.model.split('/');
  return (
    <section className={classes.section}>
      <h2>{texts.run.facts}</h2>
      <dl className={classes.list}>
        <Fact name={texts.run.model}>
          <Link to="/models/$provider/$model" params={{ provider, model }}>
            {run.model}
          </Link>
        </Fact>
        <Fact name={texts.run.key}>{run.key_name ?? texts.run.token}</Fact>
        {run.tags !== undefined && (
          <Fact name={texts.run.tags}>
            {Object.entries(run.tags)
              .map(([name, value]) => `${name}=${value}`)
              .join(', ')}
          </Fact>
        )}
        {run.user !== undefined && <Fact name={texts.run.user}>{run.user}</Fact>}
        <Fact name={texts.run.admitted}>
          <Moment at={run.created_at} />
        </Fact>
        {run.completed_at !== undefined && (
          <Fact name={texts.run.completed}>
            <Moment at={run.completed_at} />
          </Fact>
        )}
        {run.kept ? (
          <Fact name={texts.run.expires}>{texts.run.never}</Fact>
        ) : (
          run.expires_at !== undefined && (
            <Fact name={texts.run.expires}>
              <Moment at={run.expires_at} />
            </Fact>
          )
        )}
        {run.attempts !== undefined && <Fact name={texts.run.attempts}>{run.attempts}</Fact>}
        {run.asset_count !== undefined && run.asset_count > 0 && (
          <Fact name={texts.run.assets}>{run.asset_count}</Fact>
        )}
        {run.cancel_requested_at !== undefined && (
          <Fact name={texts.run.cancelRequested}>
            <Moment at={run.cancel_requested_at} />
          </Fact>
        )}
      </dl>
    </section>
  );
}

export function RunWebhook({ run: { webhook } }: { run: RunDetail }) {
  return (
    <section className={classes.section}>
      <h2>{texts.run.webhook}</h2>
      {webhook === undefined ? (
        <p className="dimmed">{texts.run.noWebhook}</p>
      ) : (
        <>
          <dl className={classes.list}>
            <Fact name={texts.webhooks.url}>{webhook.url}</Fact>
            <Fact name={texts.webhooks.state}>
              <DeliveryState delivery={webhook} />
            </Fact>
            <Fact name={texts.webhooks.tries}>{webhook.tries}</Fact>
            {webhook.problem !== undefined && <Fact name={texts.webhooks.problem}>{webhook.problem}</Fact>}
            {webhook.next_try_at !== undefined && (
              <Fact name={texts.webhooks.nextTry}>
                <Moment at={webhook.next_try_at} />
              </Fact>
            )}
          </dl>
          <div className={classes.action}>
            <Redeliver delivery={webhook} />
            <Button
              variant="subtle"
              size="xs"
              renderRoot={(props) => <Link to="/webhooks" search={{ show: webhook.request_id }} {...props} />}
            >
              {texts.webhooks.attempts}
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
