import { Button, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { type Budget, budgetsQuery, deleteBudget } from '../../api/budgets.ts';
import { newestKeysQuery } from '../../api/keys.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Meter } from '../../parts/meter.tsx';
import { Moment, useNow } from '../../parts/moment.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts/index.ts';
import { BudgetForm } from './budget-form.tsx';
import { RaiseForm } from './raise-form.tsx';
import { ValuesOf } from './values-of.tsx';
import classes from './budgets-page.module.css';

interface Opened {
  form: 'edit' | 'raise' | 'values';
  budget?: Budget;
}

export function BudgetsPage() {
  const budgets = useQuery(budgetsQuery);
  const { key } = useSearch({ from: '/budgets' });
  const navigate = useNavigate({ from: '/budgets' });
  const [opened, setOpened] = useState<Opened | undefined>(key === undefined ? undefined : { form: 'edit' });
  const close = () => {
    setOpened(undefined);
    if (key !== undefined) void navigate({ search: {}, replace: true, resetScroll: false });
  };
  return (
    <>
      <PageTitle title={texts.budgets.title} detail={texts.budgets.about}>
        <Button leftSection={<Plus size={14} aria-hidden />} onClick={() => setOpened({ form: 'edit' })}>
          {texts.budgets.create}
        </Button>
      </PageTitle>
      <Loaded query={budgets}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={texts.budgets.empty} detail={texts.budgets.emptyText} />
          ) : (
            <Table className={classes.table}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{texts.budgets.name}</Table.Th>
                  <Table.Th>{texts.budgets.use}</Table.Th>
                  <Table.Th className="wide-only">{texts.budgets.resets}</Table.Th>
                  <Table.Th>
                    <span className="visually-hidden">{texts.budgets.edit}</span>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((budget) => (
                  <BudgetRow key={budget.name} budget={budget} open={setOpened} />
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Loaded>
      {opened?.form === 'edit' && <BudgetForm budget={opened.budget} keyId={key} close={close} />}
      {opened?.form === 'raise' && opened.budget && <RaiseForm budget={opened.budget} close={close} />}
      {opened?.form === 'values' && opened.budget && <ValuesOf budget={opened.budget} close={close} />}
    </>
  );
}

function BudgetRow({ budget, open }: { budget: Budget; open: (opened: Opened) => void }) {
  const { name, kind, window, current } = budget;
  return (
    <Table.Tr>
      <Table.Td className={classes.name}>
        <span>{name}</span>
        <span className={classes.small}>
          <Counts budget={budget} /> · {texts.budgets.kinds[kind]}
        </span>
      </Table.Td>
      <Table.Td className={classes.use}>
        <Use budget={budget} open={open} />
        <Raised budget={budget} />
      </Table.Td>
      <Table.Td className="wide-only">
        {current.resets_at === undefined ? (
          <span className="dimmed">{texts.budgets.windows[window]}</span>
        ) : (
          <Moment at={current.resets_at} />
        )}
      </Table.Td>
      <Table.Td>
        <div className={classes.actions}>
          <Button
            variant="default"
            size="xs"
            aria-label={texts.budgets.raiseOf(name)}
            onClick={() => open({ form: 'raise', budget })}
          >
            {texts.budgets.raise}
          </Button>
          <Button
            variant="default"
            size="xs"
            aria-label={texts.budgets.editOf(name)}
            onClick={() => open({ form: 'edit', budget })}
          >
            {texts.budgets.edit}
          </Button>
          <Confirm
            label={texts.budgets.remove}
            of={name}
            title={texts.budgets.removeTitle(name)}
            detail={texts.budgets.removeText}
            act={() => deleteBudget(name)}
            changes={budgetsQuery.queryKey}
          />
        </div>
      </Table.Td>
    </Table.Tr>
  );
}

function Use({ budget, open }: { budget: Budget; open: (opened: Opened) => void }) {
  const { spent_cents: spent, reserved_cents: reserved, limit_cents: limit } = budget.current;
  if (spent === undefined || reserved === undefined)
    return (
      <>
        {texts.budgets.limitEach(dollarsOfCents(limit))}{' '}
        <Button variant="subtle" size="compact-xs" onClick={() => open({ form: 'values', budget })}>
          {texts.budgets.mostUsed}
        </Button>
      </>
    );
  return (
    <Meter
      compact
      label={budget.name}
      current={spent + reserved}
      limit={limit}
      text={texts.budgets.used(dollarsOfCents(spent), dollarsOfCents(reserved), dollarsOfCents(limit))}
    />
  );
}

/** The present raise. */
function Raised({ budget: { raises } }: { budget: Budget }) {
  const nowMs = useNow(10_000);
  const raise = raises.find(({ from, until }) => Date.parse(from) <= nowMs && nowMs < Date.parse(until));
  if (raise === undefined) return null;
  return (
    <div className={classes.small}>
      {texts.budgets.raised(dollarsOfCents(raise.amount_cents))} <Moment at={raise.until} />
    </div>
  );
}

/** The runs that count. A key is shown by its name, if it is one of the newest. */
function Counts({ budget: { scope, value } }: { budget: Budget }) {
  const keys = useQuery(newestKeysQuery).data?.data ?? [];
  const { scopes, each, nobody } = texts.budgets;
  if (scope === 'workspace') return scopes.workspace;
  if (scope === 'model') return value ?? '';
  if (scope === 'key') return keys.find(({ id }) => id === value)?.name ?? value ?? each.key;
  if (scope === 'user') return value === '' ? nobody : (value ?? each.user);
  return `${scope.slice('tag:'.length)}: ${value ?? each.tag}`;
}
