import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CalendarClock } from 'lucide-react';
import { modelDocumentQuery } from '../../api/model-document.ts';
import { useModels } from '../../api/models.ts';
import { isMissing } from '../../api/problem.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Failure } from '../../parts/failure.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Simulated } from '../../parts/simulated.tsx';
import { texts } from '../../texts/index.ts';
import { Measured } from '../models/measured.tsx';
import { ModalityChips } from '../models/modality.tsx';
import { priceFrom } from '../models/price-from.ts';
import classes from './model.module.css';
import { ModelSkeleton, Workbench } from './workbench.tsx';

const route = getRouteApi('/models/$provider/$model');

/** A model's input form, result and details. */
export function ModelPage() {
  const { provider, model } = route.useParams();
  const id = `${provider}/${model}`;
  const entry = useModels().models.find((each) => each.id === id || each.aliases.includes(id));
  const document = useQuery(modelDocumentQuery(id));
  return (
    <>
      <PageTitle
        title={entry?.title ?? id}
        detail={
          <span className={classes.facts}>
            <span>
              <code>{id}</code> <CopyText text={id} />
            </span>
            {entry !== undefined && <ModalityChips model={entry} />}
            {entry?.simulated && <Simulated />}
            {entry !== undefined && <span className="figures">{priceFrom(entry.price)}</span>}
            {entry !== undefined && <Measured model={entry} />}
            {entry?.lifecycle !== undefined && (
              <span className={classes.ends}>
                <CalendarClock size={14} aria-hidden />
                {texts.models.ends(entry.lifecycle.ends)}
              </span>
            )}
          </span>
        }
      />
      {entry?.description !== undefined && <p className={classes.description}>{entry.description}</p>}
      {isMissing(document.error) ? (
        <Failure
          error={document.error}
          title={texts.model.missing}
          advice={{ model_not_found: texts.model.missingAdvice }}
        >
          <Button variant="default" renderRoot={(props) => <Link to="/models" {...props} />}>
            {texts.frame.notFoundAction}
          </Button>
        </Failure>
      ) : document.error !== null ? (
        <Failure error={document.error} retry={() => void document.refetch()} />
      ) : document.data !== undefined ? (
        <Workbench key={id} id={id} document={document.data} entry={entry} />
      ) : (
        <ModelSkeleton />
      )}
    </>
  );
}
