import { Gauge } from 'lucide-react';
import type { ModelEntry } from '../../api/models.ts';
import { duration } from '../../parts/duration.ts';
import { count } from '../../parts/quantities.ts';
import { texts } from '../../texts/index.ts';
import classes from './models.module.css';

/** The median time and the success rate of the model's runs, if there are enough. */
export function Measured({ model: { measured } }: { model: Pick<ModelEntry, 'measured'> }) {
  if (measured === undefined) return null;
  const [time, share] = figuresOf(measured);
  return (
    <span className={`figures ${classes.measured}`} title={measuredText(measured)}>
      <Gauge size={14} aria-hidden />
      {texts.models.measured(time, share)}
    </span>
  );
}

type Figures = NonNullable<ModelEntry['measured']>;

/** The same as a sentence, with what it is measured from. */
export function measuredText(measured: Figures): string {
  const [time, share] = figuresOf(measured);
  return texts.models.measuredOf(time, share, count(measured.runs), measured.days);
}

const figuresOf = ({ median_seconds: seconds, success_share: share }: Figures) =>
  [seconds === undefined ? undefined : timeOf(seconds), `${Math.round(share * 100)}%`] as const;

/** Seconds have two digits, so none are made up. */
const timeOf = (seconds: number): string => (seconds < 60 ? `${seconds} s` : duration(seconds * 1000));
