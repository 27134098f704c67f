import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { samplesQuery, sharedPreviewQuery, sharedResultQuery } from '../../api/shared.ts';
import type { TextPlaces } from '../../api/streamed-text.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Output } from '../../parts/output.tsx';
import { ResultThumb } from '../../parts/run-thumb.tsx';
import { texts } from '../../texts/index.ts';
import classes from './model.module.css';
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
  const [provider = '', model = ''] = id.split('/');
  return (
    <section aria-label={texts.model.samples}>
      <h3 className={classes.stripTitle}>{texts.model.samples}</h3>
      <ul className={classes.strip}>
        {data.data.map(({ token }, place) => (
          <li key={token}>
            <Link
              to="/models/$provider/$model"
              params={{ provider, model }}
              search={(now) => ({ ...now, sample: token, run: undefined, from: undefined })}
              replace
              resetScroll={false}
              className={classes.stripItem}
              aria-current={token === shown}
              aria-label={texts.model.sample(place + 1)}
            >
              <ResultThumb query={sharedPreviewQuery(token)} model={id} modalities={modalities} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
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
