import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Provider, providersQuery } from '../../api/operator.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Meter } from '../../parts/meter.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { count } from '../../parts/quantities.ts';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { texts } from '../../texts/index.ts';
import { failedShare } from './failed-share.ts';
import classes from './operator.module.css';
import { ProviderState } from './provider-parts.tsx';
import { troubledFirst } from './trouble.ts';

export function ProvidersPage() {
  const providers = useQuery(providersQuery);
  return (
    <>
      <PageTitle title={texts.providers.title} detail={texts.providers.about} />
      <Loaded query={providers} skeleton={<TableSkeleton rows={14} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={texts.providers.empty} detail={texts.providers.emptyText} />
          ) : (
            <div className={classes.scroll}>
              <Table className={classes.table}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{texts.providers.provider}</Table.Th>
                    <Table.Th>{texts.providers.state}</Table.Th>
                    <Table.Th className={`wide-only ${classes.number}`}>{texts.providers.models}</Table.Th>
                    <Table.Th className="wide-only">{texts.providers.slots}</Table.Th>
                    <Table.Th className={classes.number}>{texts.providers.waiting}</Table.Th>
                    <Table.Th className={`wide-only ${classes.number}`}>{texts.providers.underWay}</Table.Th>
                    <Table.Th className={`wide-only ${classes.number}`}>{texts.providers.day}</Table.Th>
                    <Table.Th className={classes.number}>{texts.providers.failed}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.toSorted(troubledFirst).map((provider) => (
                    <ProviderRow key={provider.provider} provider={provider} />
                  ))}
                </Table.Tbody>
              </Table>
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function ProviderRow({ provider }: { provider: Provider }) {
  const { models, pressure, last_day } = provider;
  const { slots, waiting, under_way } = pressure;
  return (
    <Table.Tr>
      <Table.Td>
        <Link to="/providers/$provider" params={{ provider: provider.provider }} className={classes.name}>
          {provider.provider}
        </Link>
      </Table.Td>
      <Table.Td>
        <ProviderState provider={provider} />
      </Table.Td>
      <Table.Td className={`wide-only ${classes.number}`}>{count(models.length)}</Table.Td>
      <Table.Td className="wide-only">
        <Meter
          compact
          label={texts.providers.slots}
          limit={slots.limit}
          current={slots.in_use}
          text={texts.parts.of(count(slots.in_use), count(slots.limit))}
        />
      </Table.Td>
      <Table.Td className={classes.number}>{count(waiting.runs)}</Table.Td>
      <Table.Td className={`wide-only ${classes.number}`}>{count(under_way.runs)}</Table.Td>
      <Table.Td className={`wide-only ${classes.number}`}>{count(last_day.requests)}</Table.Td>
      <Table.Td className={classes.number}>{failedShare(last_day)}</Table.Td>
    </Table.Tr>
  );
}
