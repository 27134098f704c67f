import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useDeferredValue, useMemo, useState } from 'react';
import { useModels } from '../../api/models.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts/index.ts';
import { recentModels } from '../../finding/recent-models.ts';
import { CardSkeletons, ModelCard } from './model-card.tsx';
import classes from './models.module.css';
import { found, listed, providersOf } from './selection.ts';
import { usePins } from '../../finding/pins.ts';
import { type ModelsSearch, type Sort, sorts } from './search.ts';
import { useRendered } from './rendered.ts';
import { tasks } from '../../finding/tasks.ts';

/** The gallery of models, filtered by words, task and provider. */
export function ModelsPage() {
  const { q = '', task, modality, provider, sort = 'used' } = useSearch({ from: '/models' });
  const navigate = useNavigate({ from: '/models' });
  const { models, query } = useModels();
  const { hasNextPage, error } = query;

  const [text, setText] = useState(q);
  // The address follows the field while the user types; a link to the unfiltered gallery clears the field.
  const [seen, setSeen] = useState(q);
  if (seen !== q) {
    setSeen(q);
    if (q === '') setText('');
  }
  const search = (part: ModelsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false });

  const words = useDeferredValue(text);
  const recent = useMemo(() => recentModels(), []);
  const pinned = usePins();
  const all = useMemo(() => listed(models, { pinned, recent }, sort), [models, pinned, recent, sort]);
  const shown = useMemo(
    () => found(all, { words, task, modality, provider }),
    [all, words, task, modality, provider],
  );
  const selection = JSON.stringify([words, task, modality, provider, sort]);
  const { rendered, end } = useRendered(shown, selection);
  const isUnmeasured = sort === 'speed' && !models.some(({ measured }) => measured !== undefined);
  const isFiltered = [task, modality, provider].some((each) => each !== undefined) || text !== '';

  return (
    <>
      <PageTitle
        title={texts.models.title}
        detail={
          query.isPending || hasNextPage ? texts.models.lead : texts.models.count(shown.length, models.length)
        }
      />
      <search className={classes.filters}>
        <TextInput
          className={classes.words}
          aria-label={texts.models.search}
          placeholder={texts.models.search}
          leftSection={<Search size={16} aria-hidden />}
          value={text}
          onChange={({ currentTarget: { value } }) => {
            setText(value);
            search({ q: value || undefined });
          }}
        />
        <NativeSelect
          aria-label={texts.models.provider}
          data={[{ value: '', label: texts.models.allProviders }, ...providersOf(models)]}
          value={provider ?? ''}
          onChange={({ currentTarget: { value } }) => search({ provider: value || undefined })}
        />
        <NativeSelect
          aria-label={texts.models.sort}
          data={sorts.map((value) => ({ value, label: texts.models.sorts[value] }))}
          value={sort}
          onChange={({ currentTarget: { value } }) => search({ sort: value as Sort })}
        />
        <div className={classes.chips} role="group" aria-label={texts.models.task}>
          {tasks.map((each) => (
            <Button
              key={each}
              size="xs"
              variant={each === task ? 'light' : 'default'}
              aria-pressed={each === task}
              onClick={() => search({ task: each === task ? undefined : each })}
            >
              {texts.models.tasks[each]}
            </Button>
          ))}
        </div>
      </search>
      {error !== null && <Failure error={error} retry={() => void query.refetch()} />}
      {isUnmeasured && !query.isPending && (
        <p className={`dimmed ${classes.note}`}>{texts.models.unmeasured}</p>
      )}
      {query.isPending && <CardSkeletons />}
      <ul className={classes.cards}>
        {rendered.map((model) => (
          <ModelCard
            key={model.id}
            model={model}
            isRecent={recent.includes(model.id)}
            isPinned={pinned.includes(model.id)}
          />
        ))}
      </ul>
      {rendered.length < shown.length && <div ref={end} className={classes.more} />}
      {!query.isPending && error === null && shown.length === 0 && !hasNextPage && (
        <Empty
          title={isFiltered ? texts.models.nothingFound : texts.models.none}
          detail={isFiltered ? texts.models.nothingFoundDetail : texts.models.noneDetail}
        >
          {isFiltered && (
            <Button variant="default" onClick={() => void navigate({ search: {}, replace: true })}>
              {texts.models.clear}
            </Button>
          )}
        </Empty>
      )}
    </>
  );
}
