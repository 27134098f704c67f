import { Checkbox } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { ModelEntry } from '../../api/models.ts';
import { runPromptQuery } from '../../api/run.ts';
import { KeepRun } from '../../parts/keep-run.tsx';
import { Moment, relativeTo, useNow } from '../../parts/moment.tsx';
import { RunThumb } from '../../parts/run-thumb.tsx';
import { texts } from '../../texts/index.ts';
import classes from './outputs.module.css';
import type { OutputRun } from './use-outputs.ts';

interface OutputTileProps {
  run: OutputRun;
  entry: ModelEntry | undefined;
  isSelected: boolean;
  select: (isSelected: boolean) => void;
  show: () => void;
}

/** One output. Its picture and prompt are read once it is visible. */
export function OutputTile({ run, entry, isSelected, select, show }: OutputTileProps) {
  const { ref, inViewport } = useInViewport<HTMLLIElement>();
  const { data: prompt } = useQuery({ ...runPromptQuery(run.request_id), enabled: inViewport });
  const name = entry?.title ?? run.model;
  const when = relativeTo(useNow(60_000), Date.parse(run.created_at));
  return (
    <li ref={ref} className={classes.tile} data-selected={isSelected || undefined}>
      <button
        type="button"
        className={classes.picture}
        aria-label={texts.outputs.show(name, when)}
        onClick={show}
      >
        <RunThumb run={run} modalities={entry?.output_modalities ?? []} />
      </button>
      <Checkbox
        size="xs"
        className={classes.check}
        aria-label={texts.outputs.select(name, when)}
        checked={isSelected}
        onChange={({ currentTarget: { checked } }) => select(checked)}
      />
      <div className={classes.caption}>
        <p className={classes.prompt}>{prompt ?? name}</p>
        <p className={`dimmed ${classes.model}`}>{run.model}</p>
        <div className={classes.foot}>
          <span className="dimmed">
            {run.expires_at !== undefined && (
              <>
                {texts.outputs.expires} <Moment at={run.expires_at} />
              </>
            )}
          </span>
          <KeepRun run={run} />
        </div>
      </div>
    </li>
  );
}
