import { useInViewport } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ModelEntry, useModels } from '../../../../api/models.ts';
import { runPreviewQuery, runResultQuery } from '../../../../api/run-result.ts';
import { Empty } from '../../../../parts/empty.tsx';
import { LoadedList } from '../../../../parts/loaded.tsx';
import { relativeTo, useNow } from '../../../../parts/moment.tsx';
import { resultFindings } from '../../../../parts/result-findings.ts';
import { RunThumb } from '../../../../parts/run-thumb.tsx';
import { mediaPicker } from '../../../../texts/inputs.ts';
import { type OutputRun, useOutputs } from '../../../outputs/use-outputs.ts';
import { type ChoicesProps, ChoiceTile } from './choice-tile.tsx';
import type { FileKind } from '../form-schema.ts';
import { MediumPreview } from './medium-preview.tsx';
import classes from './media-picker.module.css';

/** The results of models that make what the field takes, newest first. */
export function OutputChoices({ kind, chosen, toggle }: ChoicesProps) {
  const outputs = useOutputs({});
  const { models } = useModels();
  const empty = <Empty title={mediaPicker.noOutputs} detail={mediaPicker.noOutputsText} />;
  return (
    <LoadedList query={outputs} empty={empty}>
      {(runs) => {
        const shown = runs.flatMap((run) => {
          const entry = models.find(({ id }) => id === run.model);
          return entry !== undefined && makes(entry, kind) ? [{ run, entry }] : [];
        });
        if (shown.length === 0) return empty;
        return (
          <div className={classes.tiles}>
            {shown.map(({ run, entry }) => (
              <RunChoices
                key={run.request_id}
                run={run}
                entry={entry}
                kind={kind}
                chosen={chosen}
                toggle={toggle}
              />
            ))}
          </div>
        );
      }}
    </LoadedList>
  );
}

const makes = ({ output_modalities: outputs }: ModelEntry, kind: FileKind) =>
  kind === 'any' ? outputs.some((each) => each !== 'text' && each !== 'embedding') : outputs.includes(kind);

interface RunChoicesProps extends ChoicesProps {
  run: OutputRun;
  entry: ModelEntry;
}

/** A tile for each file of a run. A result that is too large for a preview has one tile for all its files. */
function RunChoices({ run, entry, kind, chosen, toggle }: RunChoicesProps) {
  const { title = run.model, output_modalities: modalities } = entry;
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const queries = useQueryClient();
  const { data: preview } = useQuery({
    ...runPreviewQuery(run.model, run.request_id),
    enabled: inViewport,
  });
  const fits = (medium: { kind: FileKind }) => kind === 'any' || medium.kind === kind;
  const media = preview ? resultFindings(preview, modalities).media.filter(fits) : undefined;
  const label = mediaPicker.output(title, relativeTo(useNow(60_000), Date.parse(run.created_at)));
  const tile = { label, caption: title };
  const all = {
    key: run.request_id,
    media: async () => {
      const result = await queries.fetchQuery(runResultQuery(run.model, run.request_id));
      return resultFindings(result, modalities).media.filter(fits);
    },
  };
  const isChosen = (wanted: string) => chosen.some(({ key }) => key === wanted);
  if (media?.length === 0) return null;
  return (
    <div ref={ref} className={classes.run}>
      {media === undefined ? (
        <ChoiceTile {...tile} isChosen={isChosen(all.key)} toggle={() => toggle(all)}>
          <RunThumb run={run} modalities={modalities} />
        </ChoiceTile>
      ) : (
        media.map((medium, place) => {
          const key = `${run.request_id} ${place}`;
          return (
            <ChoiceTile
              key={key}
              {...tile}
              isChosen={isChosen(key)}
              toggle={() => toggle({ key, media: () => Promise.resolve([medium]) })}
            >
              <MediumPreview kind={medium.kind} url={medium.url} />
            </ChoiceTile>
          );
        })
      )}
    </div>
  );
}
