import { Button, Modal, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type Budget, type BudgetInput, budgetsQuery, setBudget } from '../../api/budgets.ts';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './budgets-page.module.css';

type Scope = keyof typeof texts.budgets.scopes;
type Window = BudgetInput['window'];

const choices = (labels: Record<string, string>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

interface BudgetFormProps {
  budget: Budget | undefined;
  /** The key that a new budget is for. */
  keyId: string | undefined;
  close: () => void;
}

/** Makes a budget, or changes one. */
export function BudgetForm({ budget, keyId, close }: BudgetFormProps) {
  const title = budget === undefined ? texts.budgets.create : texts.budgets.editTitle(budget.name);
  return (
    <Modal opened onClose={close} title={title}>
      <Fields budget={budget} keyId={keyId} close={close} />
    </Modal>
  );
}

interface Entered {
  name: string;
  scope: Scope;
  tag: string;
  value: string;
  /** The value is given although it is empty: the runs without an end user. */
  isNobody: boolean;
  window: Window;
  timeZone: string;
  dollars: number | string;
  isHard: boolean;
  webhookUrl: string;
}

const enteredOf = (budget: Budget | undefined, keyId: string | undefined): Entered => ({
  name: budget?.name ?? '',
  scope: budget?.scope.startsWith('tag:')
    ? 'tag'
    : ((budget?.scope ?? (keyId === undefined ? 'workspace' : 'key')) as Scope),
  tag: budget?.scope.startsWith('tag:') ? budget.scope.slice('tag:'.length) : '',
  value: budget === undefined ? (keyId ?? '') : (budget.value ?? ''),
  isNobody: budget?.value === '',
  window: budget?.window ?? 'month',
  timeZone: budget?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  dollars: budget === undefined ? '' : budget.limit_cents / 100,
  isHard: budget?.kind !== 'soft',
  webhookUrl: budget?.webhook_url ?? '',
});

const inputOf = (entered: Entered, budget: Budget | undefined): BudgetInput => ({
  scope: entered.scope === 'tag' ? `tag:${entered.tag}` : entered.scope,
  ...(entered.scope !== 'workspace' &&
    (entered.value !== '' || entered.isNobody) && { value: entered.value }),
  window: entered.window,
  time_zone: entered.timeZone,
  limit_cents: Math.round(Number(entered.dollars) * 100),
  kind: entered.isHard ? 'hard' : 'soft',
  ...(entered.webhookUrl !== '' && { webhook_url: entered.webhookUrl }),
  raises: budget?.raises ?? [],
});

function Fields({ budget, keyId, close }: BudgetFormProps) {
  const queries = useQueryClient();
  const [entered, setEntered] = useState(() => enteredOf(budget, keyId));
  const set = (changed: Partial<Entered>) => setEntered((before) => ({ ...before, ...changed }));
  const saving = useMutation({
    mutationFn: () => setBudget(entered.name, inputOf(entered, budget)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: budgetsQuery.queryKey });
      close();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  const { scope } = entered;
  return (
    <form className={classes.form} onSubmit={submit}>
      {budget === undefined && (
        <TextInput
          label={texts.budgets.name}
          description={texts.budgets.nameHint}
          value={entered.name}
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
          pattern="[A-Za-z0-9_.\-]{1,64}"
          required
          data-autofocus
        />
      )}
      <div className={classes.fields}>
        <Select
          label={texts.budgets.scope}
          data={choices(texts.budgets.scopes)}
          value={scope}
          onChange={(chosen) => set({ scope: chosen as Scope, value: '', isNobody: false })}
          allowDeselect={false}
        />
        {scope === 'tag' && (
          <TextInput
            label={texts.budgets.tag}
            value={entered.tag}
            onChange={({ currentTarget }) => set({ tag: currentTarget.value })}
            required
          />
        )}
      </div>
      {scope !== 'workspace' && (
        <TextInput
          label={texts.budgets.value}
          description={texts.budgets.valueHint[scope]}
          value={entered.value}
          onChange={({ currentTarget }) => set({ value: currentTarget.value, isNobody: false })}
          required={scope === 'model'}
        />
      )}
      <div className={classes.fields}>
        <NumberInput
          label={texts.budgets.limit}
          value={entered.dollars}
          onChange={(dollars) => set({ dollars })}
          prefix="$"
          decimalScale={2}
          min={0.01}
          thousandSeparator=","
          required
        />
        <Select
          label={texts.budgets.window}
          data={choices(texts.budgets.windows)}
          value={entered.window}
          onChange={(chosen) => set({ window: chosen as Window })}
          allowDeselect={false}
        />
      </div>
      <TextInput
        label={texts.budgets.timeZone}
        description={texts.budgets.timeZoneHint}
        value={entered.timeZone}
        onChange={({ currentTarget }) => set({ timeZone: currentTarget.value })}
        required
      />
      <Switch
        label={texts.budgets.hard}
        description={texts.budgets.hardText}
        checked={entered.isHard}
        onChange={({ currentTarget }) => set({ isHard: currentTarget.checked })}
      />
      <TextInput
        label={texts.budgets.webhook}
        description={texts.budgets.webhookHint}
        value={entered.webhookUrl}
        onChange={({ currentTarget }) => set({ webhookUrl: currentTarget.value })}
        type="url"
      />
      {saving.error && <Failure error={saving.error} title={texts.parts.notDone} />}
      <div className={classes.buttons}>
        <Button variant="default" onClick={close}>
          {texts.parts.cancel}
        </Button>
        <Button type="submit" loading={saving.isPending} disabled={entered.dollars === ''}>
          {texts.budgets.save}
        </Button>
      </div>
    </form>
  );
}
