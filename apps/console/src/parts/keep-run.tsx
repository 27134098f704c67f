import { Button } from '@mantine/core';
import { Bookmark, BookmarkCheck } from 'lucide-react';
import { useKeep } from '../api/kept.ts';
import { useScope } from '../api/workspace.ts';
import { texts } from '../texts/index.ts';
import { Failure } from './failure.tsx';

interface KeepRunProps {
  size?: 'xs' | 'sm';
  run: {
    request_id: string;
    outcome?: string | undefined;
    result_available: boolean;
    kept?: boolean | undefined;
  };
}

/** Keeps a run without expiry, or lets it expire again. Only for runs with a result, and credentials that may. */
export function KeepRun({
  run: { request_id, outcome, result_available, kept = false },
  size = 'xs',
}: KeepRunProps) {
  const keep = useKeep(request_id);
  const mayManage = useScope('manage');
  if (mayManage !== true || outcome !== 'succeeded' || !result_available) return null;
  const Icon = kept ? BookmarkCheck : Bookmark;
  return (
    <>
      <Button
        variant="default"
        size={size}
        aria-pressed={kept}
        title={kept ? texts.outputs.unkeepHint : texts.outputs.keepHint}
        leftSection={<Icon size={14} aria-hidden />}
        loading={keep.isPending}
        onClick={() => keep.mutate(!kept)}
      >
        {kept ? texts.outputs.kept : texts.outputs.keep}
      </Button>
      {keep.error !== null && <Failure error={keep.error} title={texts.parts.notDone} />}
    </>
  );
}
