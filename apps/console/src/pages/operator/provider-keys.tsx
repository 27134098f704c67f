import { Table } from '@mantine/core';
import type { Provider } from '../../api/operator.ts';
import { Moment } from '../../parts/moment.tsx';
import { count } from '../../parts/quantities.ts';
import { texts } from '../../texts/index.ts';
import classes from './operator.module.css';

const { keys: words } = texts.providers;

/** The keys of a provider that has several, by their names. */
export function ProviderKeys({ provider: { keys } }: { provider: Provider }) {
  if (keys.length === 0) return null;
  return (
    <section className={classes.section}>
      <h2>{words.title}</h2>
      <Table className={classes.narrowTable}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.name}</Table.Th>
            <Table.Th>{words.state}</Table.Th>
            <Table.Th className={classes.number}>{words.weight}</Table.Th>
            <Table.Th className={classes.number}>{words.concurrency}</Table.Th>
            <Table.Th className={classes.number}>{words.perMinute}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => (
            <Table.Tr key={key.name}>
              <Table.Td>{key.name}</Table.Td>
              <Table.Td>
                {words.states[key.state]}
                {key.state === 'cooling' && key.cools_until !== undefined && (
                  <>
                    {' '}
                    {words.until} <Moment at={key.cools_until} />
                  </>
                )}
                {key.left_at !== undefined && (
                  <>
                    {' '}
                    {words.since} <Moment at={key.left_at} />
                  </>
                )}
              </Table.Td>
              <Table.Td className={classes.number}>{count(key.weight)}</Table.Td>
              <Table.Td className={classes.number}>
                {key.concurrency === undefined ? '–' : count(key.concurrency)}
              </Table.Td>
              <Table.Td className={classes.number}>
                {key.per_minute === undefined ? '–' : count(key.per_minute)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
