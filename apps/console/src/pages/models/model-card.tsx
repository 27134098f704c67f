import { Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { CalendarClock, Clock, Pin } from 'lucide-react';
import { memo } from 'react';
import type { ModelEntry } from '../../api/models.ts';
import { Simulated } from '../../parts/simulated.tsx';
import { texts } from '../../texts/index.ts';
import { Measured } from './measured.tsx';
import { ModalityChips } from './modality.tsx';
import { ModelMark } from './model-mark.tsx';
import classes from './models.module.css';
import { togglePin } from '../../finding/pins.ts';
import { priceFrom } from './price-from.ts';
import { modalities } from './search.ts';

/** The browser lays out and paints only the cards near the viewport, so hundreds of them scroll smoothly. */
export const ModelCard = memo(function ModelCard({
  model,
  isRecent,
  isPinned,
}: {
  model: ModelEntry;
  isRecent: boolean;
  isPinned: boolean;
}) {
  const { id, provider, model: name, title, description, lifecycle } = model;
  return (
    <li className={classes.card}>
      <Link to="/models/$provider/$model" params={{ provider, model: name }} className={classes.link}>
        <ModelMark
          id={id}
          modality={modalities.find((each) => model.output_modalities.includes(each)) ?? 'text'}
        />
        <span className={classes.cardText}>
          <span className={classes.name}>
            {title ?? id}
            {isRecent && <Clock size={12} aria-label={texts.models.recent} />}
          </span>
          <code className={classes.id}>{id}</code>
          <span className={classes.description}>{description}</span>
          <span className={classes.facts}>
            <ModalityChips model={model} />
            {model.simulated && <Simulated />}
            <span className={`figures ${classes.price}`}>{priceFrom(model.price)}</span>
          </span>
          <Measured model={model} />
          {lifecycle !== undefined && (
            <span className={classes.ends}>
              <CalendarClock size={14} aria-hidden />
              {texts.models.ends(lifecycle.ends)}
            </span>
          )}
        </span>
      </Link>
      <button
        type="button"
        className={classes.pin}
        aria-pressed={isPinned}
        aria-label={isPinned ? texts.models.unpin(title ?? id) : texts.models.pin(title ?? id)}
        onClick={() => togglePin(id)}
      >
        <Pin size={14} aria-hidden />
      </button>
    </li>
  );
});

export function CardSkeletons() {
  return (
    <div className={classes.cards} aria-busy="true" aria-label={texts.parts.loading}>
      {Array.from({ length: 12 }, (_, place) => (
        <Skeleton key={place} height={252} radius={8} />
      ))}
    </div>
  );
}
