import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { operatorRunQuery } from '../../api/operator.ts';
import { useScope } from '../../api/workspace.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { texts } from '../../texts/index.ts';

/** Shows a run to every workspace as a sample of its model, or no longer. Shows nothing to others than operators. */
export function PinSample({ requestId }: { requestId: string }) {
  const isOperator = useScope('operate') === true;
  const { data: run } = useQuery({ ...operatorRunQuery(requestId), enabled: isOperator });
  const queries = useQueryClient();
  if (run === undefined || run.completed_at === undefined || run.error_type !== undefined) return null;
  const path = { params: { path: { request_id: run.request_id } } } as const;
  const changes = ['operator', 'run', requestId];
  /** The run is now kept and shared, or no longer shared. */
  const act = async (send: () => Promise<unknown>) => {
    await send();
    await Promise.all(
      [['runs'], ['run', requestId], ['samples', run.model]].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  };
  return run.pinned_at === undefined ? (
    <Confirm
      size="sm"
      label={texts.samples.pin}
      title={texts.samples.pinTitle}
      detail={texts.samples.pinText(run.workspace.name, run.model)}
      act={() => act(() => api.PUT('/v2/operator/samples/{request_id}', path))}
      changes={changes}
    />
  ) : (
    <Confirm
      size="sm"
      label={texts.samples.unpin}
      title={texts.samples.unpinTitle}
      detail={texts.samples.unpinText}
      act={() => act(() => api.DELETE('/v2/operator/samples/{request_id}', path))}
      changes={changes}
    />
  );
}
