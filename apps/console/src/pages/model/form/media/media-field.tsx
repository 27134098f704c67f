import { Button } from '@mantine/core';
import { FileUp, Images } from 'lucide-react';
import { type ClipboardEvent, type DragEvent, lazy, Suspense, useEffect, useRef, useState } from 'react';
import { kindOfType } from '../../../../parts/media.ts';
import { inputs } from '../../../../texts/inputs.ts';
import type { FileKind } from '../form-schema.ts';
import type { MaskTerms } from '../mask/mask.ts';
import { MaskButton } from '../mask/mask-button.tsx';
import { MediaItem } from './media-item.tsx';
import classes from './media-field.module.css';
import { UploadLine } from './upload-line.tsx';
import { useUploads } from './use-uploads.ts';

const MediaPicker = lazy(async () => ({ default: (await import('./media-picker.tsx')).MediaPicker }));

const accepted: Record<FileKind, string | undefined> = {
  image: 'image/*',
  video: 'video/*',
  audio: 'audio/*',
  '3d': '.glb,.gltf,.obj,.stl,.fbx,.usdz',
  any: undefined,
};

/** Marks what is dragged as an item of a list, with its place. */
const dragType = 'application/x-place';

interface MediaFieldProps {
  id: string;
  label: string;
  kind: FileKind;
  urls: readonly string[];
  onChange: (urls: string[]) => void;
  /** Numbers of files. */
  min?: number | undefined;
  max?: number | undefined;
  /** The mistake in the item at each place. */
  problems?: Readonly<Record<number, string>>;
  /** Set if the files are masks. */
  mask?: MaskTerms | undefined;
}

/**
 * One drop zone for a file or an ordered list of files. The values are URLs: any public ones, or those of files that are
 * dropped, pasted, chosen or painted and then uploaded, or picked from earlier files and outputs.
 */
export function MediaField(props: MediaFieldProps) {
  const { id, label, kind, urls, onChange, min = 0, max, problems = {}, mask } = props;
  const isSingle = max === 1;
  const zone = useRef<HTMLDivElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const [isPicking, setPicking] = useState(false);
  const [said, setSaid] = useState('');
  /** The button that has the focus once the items are drawn in their new order. */
  const [toFocus, setToFocus] = useState<{ place: number; direction: 'up' | 'down' }>();
  // An upload may finish before the last change is drawn.
  const latest = useRef(urls);
  useEffect(() => {
    latest.current = urls;
  }, [urls]);
  useEffect(() => {
    if (toFocus === undefined) return;
    const buttons = [
      ...(zone.current?.querySelectorAll<HTMLButtonElement>(`[data-place="${toFocus.place}"]`) ?? []),
    ];
    const able = buttons.filter(({ disabled }) => !disabled);
    (able.find(({ dataset }) => dataset['move'] === toFocus.direction) ?? able[0])?.focus();
  }, [toFocus]);

  const set = (next: readonly string[]) => {
    latest.current = next;
    onChange([...next]);
  };
  const addUrls = (added: readonly string[]) =>
    set(isSingle ? added.slice(0, 1) : [...latest.current, ...added].slice(0, max));
  const { uploads, add, retry, drop } = useUploads((url, name) => {
    addUrls([url]);
    setSaid(inputs.uploaded(name));
  });
  const sending = uploads.filter(({ problem }) => problem === undefined).length;
  const room = isSingle ? 1 : Math.max(0, (max ?? Infinity) - urls.length - sending);

  const send = (files: readonly File[]) => {
    if (isSingle) for (const { id: earlier } of uploads) drop(earlier);
    let taken = 0;
    add(files, ({ type }) => {
      const actual = kindOfType(type);
      if (kind !== 'any' && actual !== undefined && actual !== kind)
        return inputs.wrongKind(inputs.kinds[kind]);
      taken += 1;
      return taken > room ? inputs.tooMany(max ?? 1) : undefined;
    });
  };
  const move = (from: number, to: number, direction?: 'up' | 'down') => {
    if (to < 0 || to >= urls.length || from === to) return;
    const next = urls.toSpliced(from, 1).toSpliced(to, 0, urls[from] ?? '');
    set(next);
    setSaid(inputs.moved(to + 1, next.length));
    if (direction !== undefined) setToFocus({ place: to, direction });
  };
  const remove = (place: number) => {
    set(urls.toSpliced(place, 1));
    zone.current?.focus();
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const files = [...event.dataTransfer.files];
    const link = event.dataTransfer.getData('text/uri-list');
    if (files.length > 0) send(files);
    else if (link !== '' && room > 0) addUrls([link]);
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    send(files);
  };
  // The empty line takes a URL, and becomes an item with its first letter.
  const lines = urls.length < (max ?? Infinity) ? [...urls, ''] : urls;
  return (
    <div role="group" aria-label={label}>
      <div
        ref={zone}
        tabIndex={-1}
        className={classes.zone}
        data-over={isOver || undefined}
        onPaste={onPaste}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(isDragOfFile(event));
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => isDragOfFile(event) && onDrop(event)}
      >
        {lines.map((url, place) => (
          <MediaItem
            // An item keeps its input, and so the focus, while its URL is typed.
            key={place}
            id={place === 0 ? id : undefined}
            label={isSingle ? inputs.url(label) : inputs.urlAt(label, place + 1)}
            kind={kind}
            url={url}
            isSingle={isSingle}
            problem={problems[place]}
            onChange={(next) => set(next === '' ? urls.toSpliced(place, 1) : urls.toSpliced(place, 1, next))}
            remove={() => remove(place)}
            removeLabel={isSingle ? inputs.remove(label) : inputs.removeAt(place + 1)}
            order={isSingle ? undefined : { place, count: urls.length, move, dragType }}
          />
        ))}
        {uploads.map((upload) => (
          <UploadLine
            key={upload.id}
            upload={upload}
            retry={() => retry(upload)}
            drop={() => {
              drop(upload.id);
              zone.current?.focus();
            }}
          />
        ))}
        <div className={classes.tools}>
          <Button
            variant="default"
            size="xs"
            leftSection={<FileUp size={14} aria-hidden />}
            disabled={room === 0}
            aria-label={isSingle ? inputs.choose(label) : inputs.chooseMany(label)}
            onClick={() => chooser.current?.click()}
          >
            {inputs.upload}
          </Button>
          <Button
            variant="default"
            size="xs"
            leftSection={<Images size={14} aria-hidden />}
            disabled={room === 0}
            aria-label={inputs.browseFor(label)}
            onClick={() => setPicking(true)}
          >
            {inputs.browse}
          </Button>
          {mask !== undefined && <MaskButton terms={mask} done={(file) => send([file])} />}
          {!isSingle && (urls.length > 0 || min > 1) && (
            <span className={`figures ${classes.count}`}>{inputs.count(urls.length, min, max)}</span>
          )}
        </div>
        <input
          ref={chooser}
          type="file"
          hidden
          multiple={!isSingle}
          accept={accepted[kind]}
          onChange={(event) => {
            send([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = '';
          }}
        />
        <span role="status" className="visually-hidden">
          {said}
        </span>
        {isPicking && (
          <Suspense fallback={null}>
            <MediaPicker kind={kind} room={room} pick={addUrls} close={() => setPicking(false)} />
          </Suspense>
        )}
      </div>
    </div>
  );
}

const isDragOfFile = ({ dataTransfer }: DragEvent) => !dataTransfer.types.includes(dragType);
