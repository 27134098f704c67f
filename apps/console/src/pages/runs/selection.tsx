import { Button, CloseButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Columns2 } from 'lucide-react';
import { texts } from '../../texts/index.ts';
import { maxCompared } from '../compare/search.ts';
import classes from '../../parts/selection.module.css';
import { BulkActions } from './bulk-actions.tsx';
import { ExportRuns } from './export-runs.tsx';
import type { Run } from './use-runs.ts';

/** The actions for the selected runs. */
export function Selection({ runs, clear }: { runs: readonly Run[]; clear: () => void }) {
  return (
    <section aria-label={texts.runs.selection} className={classes.selection}>
      <output>{texts.runs.selected(runs.length)}</output>
      <CloseButton aria-label={texts.runs.clearSelection} title={texts.runs.clearSelection} onClick={clear} />
      {runs.length >= 2 && runs.length <= maxCompared && (
        <Button
          size="xs"
          leftSection={<Columns2 size={14} aria-hidden />}
          renderRoot={(props) => (
            <Link
              to="/compare"
              search={{ runs: runs.map(({ request_id }) => request_id).join(',') }}
              {...props}
            />
          )}
        >
          {texts.runs.compare}
        </Button>
      )}
      <BulkActions runs={runs} />
      <ExportRuns label={texts.runs.export} read={() => runs} />
    </section>
  );
}
