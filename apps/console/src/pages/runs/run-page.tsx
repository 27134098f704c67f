import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { RotateCcw, X } from 'lucide-react';
import { cancelRun, type RunDetail, runQuery } from '../../api/run.ts';
import { isMissing } from '../../api/problem.ts';
import { CopyId } from '../../parts/copy-id.tsx';
import { Failure } from '../../parts/failure.tsx';
import { KeepRun } from '../../parts/keep-run.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Simulated } from '../../parts/simulated.tsx';
import { PageSkeleton } from '../../parts/skeletons.tsx';
import { Status } from '../../parts/status.tsx';
import { texts } from '../../texts/index.ts';
import { Phases } from './phases.tsx';
import { RunCost, RunFacts, RunWebhook } from './run-facts.tsx';
import { RunFailure } from './run-failure.tsx';
import { PinSample } from '../operator/pin-sample.tsx';
import { RunAtProvider, RunOfAnyWorkspace } from '../operator/run-at-provider.tsx';
import { RunInput, RunOutput } from './run-payloads.tsx';
import { ShareRun } from './share-run.tsx';
import classes from './run-page.module.css';

export function RunPage() {
  const { requestId } = useParams({ from: '/runs/$requestId' });
  const { data: run, error, refetch } = useQuery(runQuery(requestId));
  if (run === undefined) {
    if (isMissing(error))
      return <RunOfAnyWorkspace requestId={requestId} otherwise={<NoSuchRun error={error} />} />;
    return error ? <Failure error={error} retry={() => void refetch()} /> : <PageSkeleton />;
  }
  return (
    <>
      <PageTitle
        title={run.model}
        detail={
          <span className={classes.about} role="status">
            <Status run={run} />
            {run.simulated && <Simulated />}
            <CopyId id={run.request_id} />
            <Moment at={run.created_at} />
          </span>
        }
      >
        <Actions run={run} />
      </PageTitle>
      <Phases run={run} />
      <div className={classes.columns}>
        <div className={classes.payloads}>
          {run.error_type !== undefined && <RunFailure run={run} bucket={run.error_type} />}
          <RunOutput run={run} />
          <RunInput run={run} />
          <RunAtProvider requestId={run.request_id} />
        </div>
        <aside className={classes.facts}>
          <RunCost run={run} />
          <RunFacts run={run} />
          <RunWebhook run={run} />
        </aside>
      </div>
    </>
  );
}

function NoSuchRun({ error }: { error: Error }) {
  return (
    <Failure error={error} title={texts.run.missing} advice={{ invalid_input: texts.run.missingAdvice }}>
      <Button variant="default" renderRoot={(props) => <Link to="/runs" {...props} />}>
        {texts.run.toList}
      </Button>
    </Failure>
  );
}

function Actions({ run }: { run: RunDetail }) {
  const [provider = '', model = ''] = run.model.split('/');
  const queries = useQueryClient();
  const cancellation = useMutation({
    mutationFn: () => cancelRun(run),
    onSettled: () => queries.invalidateQueries({ queryKey: ['run', run.request_id] }),
  });
  return (
    <>
      <KeepRun run={run} size="sm" />
      <ShareRun run={run} />
      <PinSample requestId={run.request_id} />
      {run.status !== 'COMPLETED' && (
        <Button
          variant="default"
          leftSection={<X size={14} aria-hidden />}
          loading={cancellation.isPending}
          disabled={run.cancel_requested_at !== undefined}
          onClick={() => cancellation.mutate()}
        >
          {run.cancel_requested_at === undefined ? texts.run.cancel : texts.run.cancelling}
        </Button>
      )}
      <Button
        variant={run.status === 'COMPLETED' ? 'filled' : 'default'}
        leftSection={<RotateCcw size={14} aria-hidden />}
        renderRoot={(props) => (
          <Link
            to="/models/$provider/$model"
            params={{ provider, model }}
            search={{ from: run.request_id }}
            {...props}
          />
        )}
      >
        {texts.run.again}
      </Button>
    </>
  );
}
