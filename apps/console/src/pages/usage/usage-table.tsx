import { Table } from '@mantine/core';
import { dollarsOfCents } from '../../parts/money.ts';
import { count } from '../../parts/quantities.ts';
import { texts } from '../../texts/index.ts';
import { type Measure, shareOf, type UsageSum } from './usage-sums.ts';
import classes from './usage-table.module.css';

/** The chart's numbers. Each row has a bar relative to the largest row. */
export function UsageTable({
  sums,
  heading,
  measure,
}: {
  sums: readonly UsageSum[];
  heading: string;
  measure: Measure;
}) {
  const max = Math.max(...sums.map((sum) => sum[measure]), 1e-9);
  return (
    <Table className={classes.table}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{heading}</Table.Th>
          <Table.Th className={classes.share} aria-hidden />
          <Table.Th className={classes.number}>{texts.usage.runs}</Table.Th>
          <Table.Th className={classes.number}>{texts.usage.success}</Table.Th>
          <Table.Th className={classes.number}>{texts.usage.cost}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sums.map((sum) => (
          <Table.Tr key={sum.name}>
            <Table.Td className={classes.name}>{sum.name}</Table.Td>
            <Table.Td className={classes.share} aria-hidden>
              <div style={{ width: `${(100 * sum[measure]) / max}%` }} />
            </Table.Td>
            <Table.Td className={classes.number}>{count(sum.runs)}</Table.Td>
            <Table.Td className={classes.number}>{shareOf(sum)}</Table.Td>
            <Table.Td className={classes.number}>{dollarsOfCents(sum.cost_cents)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
