import { Button, SegmentedControl, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { deliveriesQuery, type Delivery } from '../../api/webhooks.ts';
import { Command } from '../../parts/command.tsx';
import { CopyId } from '../../parts/copy-id.tsx';
import { Empty } from '../../parts/empty.tsx';
import { exampleCommand } from '../../parts/example-command.ts';
import { LoadedList } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts/index.ts';
import { DeliveryDetails } from './delivery-detail.tsx';
import { DeliveryState, DeliverySubject, Redeliver } from './delivery-parts.tsx';
import { Secret } from './secret.tsx';
import { TestEvent } from './test-event.tsx';
import classes from './webhooks-page.module.css';

const options = [
  { value: '', label: texts.webhooks.all },
  ...(['pending', 'delivered', 'given_up'] as const).map((value) => ({
    value,
    label: texts.webhooks.states[value],
  })),
];

export function WebhooksPage() {
  const { state, show } = useSearch({ from: '/webhooks' });
  const navigate = useNavigate({ from: '/webhooks' });
  const showDelivery = (requestId: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, show: requestId }), replace: true });
  const deliveries = useInfiniteQuery(deliveriesQuery(state));
  return (
    <>
      <PageTitle title={texts.webhooks.title} detail={texts.webhooks.about}>
        <TestEvent show={(requestId) => showDelivery(requestId)} />
      </PageTitle>
      {show !== undefined && (
        <DeliveryDetails key={show} requestId={show} close={() => showDelivery(undefined)} />
      )}
      <Secret />
      <div className={classes.head}>
        <h2>{texts.webhooks.deliveries}</h2>
        <SegmentedControl
          size="xs"
          aria-label={texts.webhooks.state}
          data={options}
          value={state ?? ''}
          onChange={(value) =>
            void navigate({
              search: value === '' ? {} : { state: value as Delivery['state'] },
              replace: true,
            })
          }
        />
      </div>
      <LoadedList
        query={deliveries}
        empty={
          <Empty title={texts.webhooks.empty} detail={texts.webhooks.emptyText}>
            {state === undefined && (
              <Command
                text={exampleCommand('?webhook_url=https://your.example/webhooks')}
                label={texts.runs.copyCommand}
              />
            )}
          </Empty>
        }
      >
        {(entries) => <Deliveries deliveries={entries} />}
      </LoadedList>
    </>
  );
}

function Deliveries({ deliveries }: { deliveries: readonly Delivery[] }) {
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th className="wide-only">{texts.webhooks.time}</Table.Th>
          <Table.Th>{texts.webhooks.of}</Table.Th>
          <Table.Th className="wide-only">{texts.webhooks.url}</Table.Th>
          <Table.Th>{texts.webhooks.state}</Table.Th>
          <Table.Th className={`wide-only ${classes.number}`}>{texts.webhooks.tries}</Table.Th>
          <Table.Th>
            <span className="visually-hidden">{texts.webhooks.redeliver}</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {deliveries.map((delivery) => (
          <Table.Tr key={delivery.request_id}>
            <Table.Td className={`wide-only ${classes.time}`}>
              <Moment at={delivery.created_at} />
            </Table.Td>
            <Table.Td>
              <DeliverySubject delivery={delivery} />
              <div className={classes.small}>
                <CopyId id={delivery.request_id} />
              </div>
            </Table.Td>
            <Table.Td className={`wide-only ${classes.url}`}>{delivery.url}</Table.Td>
            <Table.Td>
              <DeliveryState delivery={delivery} />
              <div className={classes.small}>{delivery.problem}</div>
              {delivery.next_try_at !== undefined && (
                <div className={classes.small}>
                  {texts.webhooks.nextTry} <Moment at={delivery.next_try_at} />
                </div>
              )}
            </Table.Td>
            <Table.Td className={`wide-only ${classes.number}`}>{delivery.tries}</Table.Td>
            <Table.Td className={classes.action}>
              <div className={classes.actions}>
                <Button
                  variant="subtle"
                  size="xs"
                  renderRoot={(props) => (
                    <Link
                      to="/webhooks"
                      search={(before) => ({ ...before, show: delivery.request_id })}
                      replace
                      {...props}
                    />
                  )}
                  aria-label={texts.webhooks.detailsOf(delivery.request_id)}
                >
                  {texts.webhooks.details}
                </Button>
                <Redeliver delivery={delivery} />
              </div>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
