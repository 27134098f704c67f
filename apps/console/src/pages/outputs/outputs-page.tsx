import { Button, SegmentedControl, Select } from '@mantine/core';
import { useNavigate, useSearch, Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { type ModelEntry, useModels } from '../../api/models.ts';
import { Empty } from '../../parts/empty.tsx';
import { LoadedList } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts/index.ts';
import { OutputTile } from './output-tile.tsx';
import classes from './outputs.module.css';
import type { OutputsSearch } from './search.ts';
import { type OutputRun, useOutputs } from './use-outputs.ts';
import { ZipSelection } from './zip-selection.tsx';

const OutputLightbox = lazy(async () => ({
  default: (await import('./output-lightbox.tsx')).OutputLightbox,
}));

const media = ['image', 'video', 'audio', '3d'];
const makesMedia = ({ output_modalities: outputs }: ModelEntry) =>
  outputs.some((each) => media.includes(each));

/** The files that the workspace's models have made. */
export function OutputsPage() {
  const search = useSearch({ from: '/outputs' });
  const navigate = useNavigate({ from: '/outputs' });
  const outputs = useOutputs(search);
  const { models, query } = useModels();
  const [selected, setSelected] = useState<readonly string[]>([]);
  const change = (changes: { [Name in keyof OutputsSearch]: OutputsSearch[Name] | undefined }) =>
    void navigate({ search: (now) => ({ ...now, ...changes }), replace: true, resetScroll: false });
  const entryOf = (run: OutputRun) => models.find(({ id }) => id === run.model);
  // A model that is no longer listed may have made anything.
  const isShown = (run: OutputRun) => {
    const entry = entryOf(run);
    return entry === undefined ? !query.hasNextPage : makesMedia(entry);
  };
  const isKept = search.only === 'kept';
  return (
    <>
      <PageTitle title={texts.outputs.title} detail={texts.outputs.about} />
      <search className={classes.bar}>
        <SegmentedControl
          size="xs"
          aria-label={texts.outputs.view}
          data={[
            { value: 'recent', label: texts.outputs.views.recent },
            { value: 'kept', label: texts.outputs.views.kept },
          ]}
          value={search.only ?? 'recent'}
          onChange={(view) => change({ only: view === 'kept' ? 'kept' : undefined, show: undefined })}
        />
        <Select
          size="xs"
          aria-label={texts.outputs.model}
          placeholder={`${texts.outputs.model}: ${texts.outputs.any}`}
          data={models.filter(makesMedia).map(({ id }) => id)}
          limit={50}
          value={search.model ?? null}
          onChange={(model) => change({ model: model ?? undefined, show: undefined })}
          searchable
          clearable
        />
      </search>
      <LoadedList
        query={outputs}
        empty={
          <Empty
            title={isKept ? texts.outputs.emptyKept : texts.outputs.empty}
            detail={isKept ? texts.outputs.emptyKeptText : texts.outputs.emptyText}
          >
            {!isKept && (
              <Button variant="default" size="xs" renderRoot={(props) => <Link to="/models" {...props} />}>
                {texts.outputs.toModels}
              </Button>
            )}
          </Empty>
        }
      >
        {(runs) => {
          const shown = runs.filter(isShown);
          const place = shown.findIndex(({ request_id: id }) => id === search.show);
          const shownAt = (at: number) => {
            const run = shown[at];
            return run && (() => change({ show: run.request_id }));
          };
          return (
            <>
              {byDay(shown).map(([day, ofDay]) => (
                <section key={day} aria-label={day}>
                  <h2 className={classes.day}>{day}</h2>
                  <ul className={classes.tiles}>
                    {ofDay.map((run) => (
                      <OutputTile
                        key={run.request_id}
                        run={run}
                        entry={entryOf(run)}
                        isSelected={selected.includes(run.request_id)}
                        select={(isSelected) =>
                          setSelected((now) => [
                            ...now.filter((id) => id !== run.request_id),
                            ...(isSelected ? [run.request_id] : []),
                          ])
                        }
                        show={() => change({ show: run.request_id })}
                      />
                    ))}
                  </ul>
                </section>
              ))}
              {selected.length > 0 && (
                <ZipSelection
                  runs={shown.filter(({ request_id: id }) => selected.includes(id))}
                  entryOf={entryOf}
                  clear={() => setSelected([])}
                />
              )}
              {shown[place] !== undefined && (
                <Suspense fallback={null}>
                  <OutputLightbox
                    run={shown[place]}
                    modalities={entryOf(shown[place])?.output_modalities ?? []}
                    close={() => change({ show: undefined })}
                    previous={shownAt(place - 1)}
                    next={shownAt(place + 1)}
                  />
                </Suspense>
              )}
            </>
          );
        }}
      </LoadedList>
    </>
  );
}

const dayName = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full' });

/** In the order of the runs. */
function byDay(runs: readonly OutputRun[]): [day: string, runs: OutputRun[]][] {
  const days = new Map<string, OutputRun[]>();
  for (const run of runs) {
    const day = dayName.format(new Date(run.created_at));
    days.set(day, [...(days.get(day) ?? []), run]);
  }
  return [...days];
}
