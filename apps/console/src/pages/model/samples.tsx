import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { samplesQuery, sharedPreviewQuery, sharedResultQuery } from '../../api/shared.ts';
import type { TextPlaces } from '../../api/streamed-text.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Output } from '../../parts/output.tsx';
import { ResultThumb } from '../../parts/run-thumb.tsx';
import { texts } from '../../texts/index.ts';
import classes from './model.module.css';
import { ResultStrip, StripItem } from './result-strip.tsx';
import { SendTo } from './send-to.tsx';

interface SamplesProps {
  id: string;
  /** The token of the sample shown on the page. */
  shown: string | undefined;
  modalities: readonly string[];
}

/** The runs that operators chose to show what the model can do. Each opens with its input in the form. */
export function Samples({ id, shown, modalities }: SamplesProps) {
  const { data } = useQuery(samplesQuery(id));
  if (data === undefined || data.data.length === 0) return null;
  return (
    <ResultStrip title={texts.model.samples}>
      {data.data.map(({ token }, place) => (
        <StripItem
          key={token}
          id={id}
          opens={{ sample: token }}
          isShown={token === shown}
          label={texts.model.sample(place + 1)}
        >
          <ResultThumb query={sharedPreviewQuery(token)} model={id} modalities={modalities} />
        </StripItem>
      ))}
    </ResultStrip>
  );
}

interface SampleOutputProps {
  token: string;
  id: string;
  modalities: readonly string[];
  /** The places of the text in the model's events. */
  places: TextPlaces | undefined;
}

export function SampleOutput({ token, id, modalities, places }: SampleOutputProps) {
  const result = useQuery(sharedResultQuery(token));
  return (
    <div className={classes.panel}>
      <p className="dimmed">{texts.model.sampleNote}</p>
      <Loaded query={result} skeleton={<Skeleton height={320} />}>
        {(loaded) => (
          <Output
            result={loaded}
            modalities={modalities}
            places={places}
            renderActions={(medium) => <SendTo medium={medium} from={id} />}
          />
        )}
      </Loaded>
    </div>
  );
}
