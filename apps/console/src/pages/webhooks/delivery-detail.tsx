import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { deliveryQuery, type DeliveryDetail } from '../../api/webhooks.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { duration } from '../../parts/duration.ts';
import { indentedJson } from '../../parts/indented-json.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import { DeliveryState } from './delivery-parts.tsx';
import classes from './delivery-detail.module.css';

/** Shows what a receiver was sent, and what it answered to each attempt. */
export function DeliveryDetails({ requestId, close }: { requestId: string; close: () => void }) {
  const delivery = useQuery(deliveryQuery(requestId));
  return (
    <Modal opened onClose={close} title={texts.webhooks.delivery} size="lg">
      <Loaded query={delivery} skeleton={<TableSkeleton rows={3} />}>
        {(loaded) => <Details delivery={loaded} />}
      </Loaded>
    </Modal>
  );
}

function Details({ delivery }: { delivery: DeliveryDetail }) {
  const { url, payload, attempts, form, state } = delivery;
  return (
    <div className={classes.details}>
      <p className={classes.head} role="status">
        <DeliveryState delivery={delivery} />
        <code className={classes.url}>{url}</code>
      </p>
      <section>
        <h2>{texts.webhooks.attempts}</h2>
        {attempts.length === 0 ? (
          <p className="dimmed">
            {state === 'pending' ? texts.webhooks.noAttemptYet : texts.webhooks.attemptsUnknown}
          </p>
        ) : (
          <ol className={classes.attempts}>
            {attempts.toReversed().map((attempt) => (
              <li key={attempt.at}>
                <Attempt attempt={attempt} />
              </li>
            ))}
          </ol>
        )}
      </section>
      <section>
        <h2>{texts.webhooks.payload}</h2>
        {payload !== undefined ? (
          <CodeBlock text={indentedJson(payload)} />
        ) : (
          <p className="dimmed">
            {form === 'standard' ? texts.webhooks.noPayload : texts.webhooks.payloadOf(form)}
          </p>
        )}
      </section>
    </div>
  );
}

function Attempt({
  attempt: { at, duration_ms, status, problem, response },
}: {
  attempt: DeliveryDetail['attempts'][number];
}) {
  return (
    <>
      <p className={classes.head}>
        <StateMark tone={problem === undefined ? 'good' : 'bad'}>
          {status === undefined ? problem : texts.webhooks.answered(status)}
        </StateMark>
        <span className="dimmed">
          <Moment at={at} />, {duration(duration_ms)}
        </span>
      </p>
      {response !== undefined && <CodeBlock text={response} />}
    </>
  );
}
