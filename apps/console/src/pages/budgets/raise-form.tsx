import { Button, Modal, NumberInput, Select } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type Budget, budgetsQuery, inputOf, setBudget } from '../../api/budgets.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './budgets-page.module.css';

const dayMs = 86_400_000;
const lengths = [1, 7, 30].map((days) => ({ value: String(days), label: texts.budgets.days(days) }));

/** Raises the limit from now on, for some days. */
export function RaiseForm({ budget, close }: { budget: Budget; close: () => void }) {
  const queries = useQueryClient();
  const [dollars, setDollars] = useState<number | string>('');
  const [days, setDays] = useState<string | null>('1');
  const raising = useMutation({
    mutationFn: () => {
      const nowMs = Date.now();
      const raise = {
        amount_cents: Math.round(Number(dollars) * 100),
        from: new Date(nowMs).toISOString(),
        until: new Date(nowMs + Number(days) * dayMs).toISOString(),
      };
      return setBudget(budget.name, { ...inputOf(budget), raises: [...budget.raises, raise] });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: budgetsQuery.queryKey });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    raising.mutate();
  };
  return (
    <Modal opened onClose={close} title={texts.budgets.raiseTitle(budget.name)}>
      <form className={classes.form} onSubmit={submit}>
        <div className={classes.fields}>
          <NumberInput
            label={texts.budgets.raiseAmount}
            value={dollars}
            onChange={setDollars}
            prefix="$"
            decimalScale={2}
            min={0.01}
            thousandSeparator=","
            required
            data-autofocus
          />
          <Select
            label={texts.budgets.raiseFor}
            data={lengths}
            value={days}
            onChange={setDays}
            allowDeselect={false}
          />
        </div>
        {raising.error && <Failure error={raising.error} title={texts.parts.notDone} />}
        <div className={classes.buttons}>
          <Button variant="default" onClick={close}>
            {texts.parts.cancel}
          </Button>
          <Button type="submit" loading={raising.isPending} disabled={dollars === ''}>
            {texts.budgets.raise}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
