import { useInfiniteQuery } from '@tanstack/react-query';
import { filesQuery } from '../../../../api/files.ts';
import { Empty } from '../../../../parts/empty.tsx';
import { LoadedList } from '../../../../parts/loaded.tsx';
import { kindOfType } from '../../../../parts/media.ts';
import { relativeTo, useNow } from '../../../../parts/moment.tsx';
import { bytes } from '../../../../parts/quantities.ts';
import { mediaPicker } from '../../../../texts/inputs.ts';
import { type ChoicesProps, ChoiceTile } from './choice-tile.tsx';
import { MediumPreview } from './medium-preview.tsx';
import classes from './media-picker.module.css';

/** The files that are stored in the workspace and that the field takes. */
export function FileChoices({ kind, chosen, toggle }: ChoicesProps) {
  const files = useInfiniteQuery(filesQuery);
  const now = useNow(60_000);
  const empty = <Empty title={mediaPicker.noFiles} detail={mediaPicker.noFilesText} />;
  return (
    <LoadedList query={files} empty={empty}>
      {(all) => {
        const fitting = all.filter(({ content_type: type }) => kind === 'any' || kindOfType(type) === kind);
        if (fitting.length === 0) return empty;
        return (
          <div className={classes.tiles}>
            {fitting.map(({ id, url, content_type: type, size, expires_at: end }) => (
              <ChoiceTile
                key={id}
                label={mediaPicker.file(type, bytes(size), relativeTo(now, Date.parse(end)))}
                isChosen={chosen.some(({ key }) => key === id)}
                toggle={() => toggle({ key: id, media: () => Promise.resolve([{ url, name: id }]) })}
                caption={`${type.split('/').at(-1)}, ${bytes(size)}`}
              >
                <MediumPreview kind={kindOfType(type) ?? 'any'} url={url} />
              </ChoiceTile>
            ))}
          </div>
        );
      }}
    </LoadedList>
  );
}
