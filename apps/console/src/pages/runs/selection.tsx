import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Columns2 } from 'lucide-react';
import { texts } from '../../texts/index.ts';
import { maxCompared } from '../compare/search.ts';
import classes from '../../parts/selection.module.css';

/** The actions for the selected runs. */
export function Selection({ selected, clear }: { selected: readonly string[]; clear: () => void }) {
  const canCompare = selected.length >= 2 && selected.length <= maxCompared;
  return (
    <section aria-label={texts.runs.selection} className={classes.selection}>
      <output>{texts.runs.selected(selected.length)}</output>
      {canCompare ? (
        <Button
          size="xs"
          leftSection={<Columns2 size={14} aria-hidden />}
          renderRoot={(props) => <Link to="/compare" search={{ runs: selected.join(',') }} {...props} />}
        >
          {texts.runs.compare}
        </Button>
      ) : (
        <span className="dimmed">{texts.runs.compareHint}</span>
      )}
      <Button variant="subtle" color="gray" size="xs" onClick={clear}>
        {texts.runs.clearSelection}
      </Button>
    </section>
  );
}
