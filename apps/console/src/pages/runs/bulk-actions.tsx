import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { CircleSlash, RotateCcw, Webhook } from 'lucide-react';
import { api } from '../../api/client.ts';
import { hasExpired, isMissing, Problem } from '../../api/problem.ts';
import { cancelRun, runInputText, submitRun } from '../../api/run.ts';
import { useScope } from '../../api/workspace.ts';
import { dollarsOfCents } from '../../parts/money.ts';
import { texts } from '../../texts/index.ts';
import { BulkAction, type BulkResult } from './bulk-action.tsx';
import type { Run } from './use-runs.ts';

/** The actions that change or repeat the selected runs. */
export function BulkActions({ runs }: { runs: readonly Run[] }) {
  const mayRun = useScope('run');
  const mayManage = useScope('manage');
  const live = runs.filter(({ status }) => status !== 'COMPLETED');
  const ended = runs.filter(({ status }) => status === 'COMPLETED');
  const repeatable = ended.filter(({ result_available }) => result_available);
  const [only] = runs;
  const reservedCents = repeatable.reduce((sum, { reserved_cents }) => sum + reserved_cents, 0);
  return (
    <>
      {mayRun === true && (
        <>
          <BulkAction
            label={texts.runs.cancelRuns}
            Icon={CircleSlash}
            title={texts.runs.cancelTitle(live.length)}
            detail={texts.runs.cancelText}
            runs={live}
            act={cancel}
            summary={texts.runs.cancelSummary}
          />
          {only !== undefined && runs.length === 1 ? (
            <RunAgain run={only} />
          ) : (
            <BulkAction
              label={texts.runs.repeat}
              Icon={RotateCcw}
              title={texts.runs.repeatTitle(repeatable.length)}
              detail={texts.runs.repeatText(dollarsOfCents(reservedCents))}
              runs={repeatable}
              act={repeat}
              summary={texts.runs.repeatSummary}
            />
          )}
        </>
      )}
      {mayManage === true && (
        <BulkAction
          label={texts.runs.redeliver}
          Icon={Webhook}
          title={texts.runs.redeliverTitle(ended.length)}
          detail={texts.runs.redeliverText}
          runs={ended}
          act={redeliver}
          summary={texts.runs.redeliverSummary}
        />
      )}
    </>
  );
}

/** Opens the model's page with the input of the run. */
function RunAgain({ run: { request_id, model: id } }: { run: Run }) {
  const [provider = '', model = ''] = id.split('/');
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<RotateCcw size={14} aria-hidden />}
      renderRoot={(props) => (
        <Link
          to="/models/$provider/$model"
          params={{ provider, model }}
          search={{ from: request_id }}
          {...props}
        />
      )}
    >
      {texts.runs.repeat}
    </Button>
  );
}

function cancel(run: Run): Promise<BulkResult> {
  return resultOf(() => cancelRun(run), {
    done: 'requested',
    // The service answers 400 for a run that has ended meanwhile.
    unless: (error) => error.status === 400 && 'ended',
  });
}

/** The same attempt of the same run joins the run that it started. */
function repeat({ request_id, model }: Run, attempt: string): Promise<BulkResult> {
  return resultOf(async () => submitRun(model, await runInputText(request_id), `${attempt}-${request_id}`), {
    done: 'queued',
    unless: (error) => hasExpired(error) && 'expired',
  });
}

function redeliver({ request_id }: Run): Promise<BulkResult> {
  const path = { request_id };
  return resultOf(() => api.POST('/v2/webhooks/deliveries/{request_id}/redeliver', { params: { path } }), {
    done: 'due',
    unless: (error) => isMissing(error) && 'none',
  });
}

async function resultOf(
  act: () => Promise<unknown>,
  { done, unless }: { done: string; unless: (error: Problem) => string | false },
): Promise<BulkResult> {
  try {
    await act();
    return { result: done };
  } catch (error) {
    const known = error instanceof Problem && unless(error);
    if (known !== false) return { result: known };
    return { result: 'failed', problem: error instanceof Error ? error.message : String(error) };
  }
}
