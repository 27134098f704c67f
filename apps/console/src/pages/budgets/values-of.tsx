import { Modal, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type Budget, budgetValuesQuery } from '../../api/budgets.ts';
import { LoadedList } from '../../parts/loaded.tsx';
import { Meter } from '../../parts/meter.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { texts } from '../../texts/index.ts';
import classes from './budgets-page.module.css';

/** The use of the present window by key, end user or value of a tag. */
export function ValuesOf({ budget: { name, current }, close }: { budget: Budget; close: () => void }) {
  const values = useInfiniteQuery(budgetValuesQuery(name));
  const limit = current.limit_cents;
  return (
    <Modal opened onClose={close} title={texts.budgets.usedOf(name)}>
      <LoadedList query={values} empty={<p className="dimmed">{texts.budgets.notUsed}</p>}>
        {(entries) => (
          <Table>
            <Table.Tbody>
              {entries.map(({ value, spent_cents: spent, reserved_cents: reserved }) => (
                <Table.Tr key={value}>
                  <Table.Td className={classes.name}>{value === '' ? texts.budgets.nobody : value}</Table.Td>
                  <Table.Td className={classes.use}>
                    <Meter
                      compact
                      label={value}
                      current={spent + reserved}
                      limit={limit}
                      text={texts.budgets.used(
                        dollarsOfCents(spent),
                        dollarsOfCents(reserved),
                        dollarsOfCents(limit),
                      )}
                    />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </LoadedList>
    </Modal>
  );
}
