import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { api, bodyOf } from '../../api/client.ts';
import type { Provider } from '../../api/operator.ts';
import { Failure } from '../../parts/failure.tsx';
import { Moment } from '../../parts/moment.tsx';
import { count } from '../../parts/quantities.ts';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';
import classes from './operator.module.css';

const tones = {
  ok: 'good',
  rejected: 'bad',
  unreachable: 'bad',
  no_free_check: 'calm',
  no_key: 'calm',
  no_worker: 'warn',
} as const;

/** The last check of the provider's key, and a button that checks it now by a free call. */
export function CheckProvider({ provider: { provider, check: last } }: { provider: Provider }) {
  const queries = useQueryClient();
  const checking = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/v2/operator/providers/{provider}/check', { params: { path: { provider } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['operator', 'providers'] }),
  });
  // The answer of a check without a call is not kept with the provider.
  const { data: answer } = checking;
  const shown = answer !== undefined && answer.checked_at === undefined ? answer : last;
  return (
    <section className={classes.section}>
      <div className={classes.head}>
        <h2>{texts.checks.title}</h2>
        <Button
          variant="default"
          size="xs"
          leftSection={<KeyRound size={14} aria-hidden />}
          loading={checking.isPending}
          onClick={() => checking.mutate()}
        >
          {texts.checks.check}
        </Button>
      </div>
      {checking.error && <Failure error={checking.error} title={texts.parts.notDone} />}
      <div role="status">
        {shown === undefined ? (
          <p className="dimmed">{texts.checks.never}</p>
        ) : (
          <>
            <p>
              <StateMark tone={tones[shown.result]}>{texts.checks.results[shown.result]}</StateMark>{' '}
              {shown.balance && texts.checks.balance(count(shown.balance.amount), shown.balance.unit)}
            </p>
            {shown.detail !== undefined && <p>{shown.detail}</p>}
            {shown.checked_at !== undefined && (
              <p className="dimmed">
                {shown.latency_ms !== undefined && texts.checks.took(shown.latency_ms)}{' '}
                <Moment at={shown.checked_at} />
              </p>
            )}
          </>
        )}
      </div>
    </section>
  );
}
