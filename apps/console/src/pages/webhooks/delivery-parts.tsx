import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import type { Delivery } from '../../api/webhooks.ts';
import { Failure } from '../../parts/failure.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';

const tones = { pending: 'waiting', delivered: 'good', given_up: 'bad' } as const;

export function DeliveryState({ delivery: { state } }: { delivery: Delivery }) {
  return <StateMark tone={tones[state]}>{texts.webhooks.states[state]}</StateMark>;
}

/** Names the event of the webhook. */
export function DeliverySubject({ delivery: { request_id, model, budget, test } }: { delivery: Delivery }) {
  if (test) return texts.webhooks.testEvent;
  if (budget !== undefined) return <Link to="/budgets">{budget}</Link>;
  return (
    <Link to="/runs/$requestId" params={{ requestId: request_id }}>
      {model}
    </Link>
  );
}

/** Calls a run's webhook again. */
export function Redeliver({ delivery: { request_id, state } }: { delivery: Delivery }) {
  const queries = useQueryClient();
  const redelivery = useMutation({
    mutationFn: () =>
      api.POST('/v2/webhooks/deliveries/{request_id}/redeliver', { params: { path: { request_id } } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
      await queries.invalidateQueries({ queryKey: ['run', request_id] });
    },
  });
  if (redelivery.error) return <Failure error={redelivery.error} title={texts.webhooks.notRedelivered} />;
  return (
    <Button
      variant="default"
      size="xs"
      disabled={state === 'pending'}
      loading={redelivery.isPending}
      onClick={() => redelivery.mutate()}
      aria-label={texts.webhooks.redeliverOf(request_id)}
    >
      {texts.webhooks.redeliver}
    </Button>
  );
}
