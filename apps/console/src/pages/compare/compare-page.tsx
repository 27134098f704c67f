import { Button } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { modelDocumentQuery } from '../../api/model-document.ts';
import { useModels } from '../../api/models.ts';
import { type RunDetail, runInputQuery, runQuery } from '../../api/run.ts';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { PageSkeleton } from '../../parts/skeletons.tsx';
import { texts } from '../../texts/index.ts';
import { shownInput } from '../model/earlier-input.ts';
import { keepDraft } from '../model/drafts.ts';
import { ModelPicker } from '../model/model-picker.tsx';
import { bestOf } from './best-of.ts';
import { ColumnHead } from './column-head.tsx';
import { useModelsOfTask } from './compare-with.tsx';
import classes from './compare.module.css';
import { Comparison } from './comparison.tsx';
import { RunFacts } from './run-facts.tsx';
import { type CompareSearch, comparisonDraft, listOf, maxCompared } from './search.ts';

const route = getRouteApi('/compare');

export function ComparePage() {
  const search = route.useSearch();
  const models = listOf(search.models);
  const runs = listOf(search.runs);
  return (
    <>
      <PageTitle title={texts.compare.title} detail={texts.compare.about} />
      {models.length > 0 ? <OfModels models={models} runs={runs} /> : <OfRuns runs={runs.filter(Boolean)} />}
    </>
  );
}

function useChange() {
  const navigate = useNavigate({ from: '/compare' });
  return (search: CompareSearch) => navigate({ to: '/compare', search, replace: true, resetScroll: false });
}

function OfModels({ models, runs }: { models: readonly string[]; runs: readonly string[] }) {
  const [first = ''] = models;
  const { data, error, refetch } = useQuery(modelDocumentQuery(first));
  const change = useChange();
  if (data === undefined)
    return error ? <Failure error={error} retry={() => void refetch()} /> : <PageSkeleton />;
  return (
    <Comparison
      key={first}
      models={models}
      runs={runs}
      base={data}
      change={change}
      picker={<AddModel models={models} add={(id) => change({ models: [...models, id].join(',') })} />}
    />
  );
}

function AddModel({ models, add }: { models: readonly string[]; add: (id: string) => unknown }) {
  const chosen = useModels().models.filter(({ id }) => models.includes(id));
  const others = useModelsOfTask(chosen);
  if (models.length >= maxCompared) return null;
  return (
    <ModelPicker
      label={texts.compare.addModel}
      hint={texts.compare.pick}
      icon={<Plus size={14} aria-hidden />}
      models={others}
      pick={add}
      variant="default"
    />
  );
}

function OfRuns({ runs }: { runs: readonly string[] }) {
  const change = useChange();
  const details = useQueries({ queries: runs.map(runQuery) }).map(({ data }) => data);
  if (runs.length === 0) return <NothingYet />;
  const { lowest, fastest } = bestOf(details);
  return (
    <>
      <div className={classes.actions}>
        <RunThese runs={details} />
      </div>
      <div className={classes.grid}>
        {runs.map((id, place) => (
          <section key={id} className={classes.column} aria-label={details[place]?.model ?? id}>
            <ColumnHead
              model={details[place]?.model}
              remove={() => void change({ runs: runs.filter((each) => each !== id).join(',') })}
            />
            <RunFacts requestId={id} isLowest={lowest === place} isFastest={fastest === place} />
          </section>
        ))}
      </div>
    </>
  );
}

/** Begins a comparison of the runs' models, with the input of the first run. */
function RunThese({ runs }: { runs: readonly (RunDetail | undefined)[] }) {
  const change = useChange();
  const [first] = runs;
  const input = useQuery({ ...runInputQuery(first?.request_id ?? ''), enabled: first !== undefined });
  const document = useQuery({ ...modelDocumentQuery(first?.model ?? ''), enabled: first !== undefined });
  const models = [...new Set(runs.flatMap((run) => (run === undefined ? [] : [run.model])))];
  if (first === undefined || input.data === undefined || document.data === undefined) return null;
  const text = shownInput(input.data, document.data.input);
  return (
    <Button
      variant="default"
      size="xs"
      onClick={() => {
        keepDraft(comparisonDraft(first.model), { text });
        void change({ models: models.join(',') });
      }}
    >
      {texts.compare.runThese}
    </Button>
  );
}

function NothingYet() {
  const change = useChange();
  return (
    <Empty title={texts.compare.empty} detail={texts.compare.emptyText}>
      <div className={classes.actions}>
        <AddModel models={[]} add={(id) => change({ models: id })} />
        <Button variant="default" size="xs" renderRoot={(props) => <Link to="/runs" {...props} />}>
          {texts.compare.toRuns}
        </Button>
      </div>
    </Empty>
  );
}
