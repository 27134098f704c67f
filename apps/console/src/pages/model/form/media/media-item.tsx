import { ActionIcon, TextInput } from '@mantine/core';
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { type DragEvent, useState } from 'react';
import { kindOfUrl } from '../../../../parts/media.ts';
import { inputs } from '../../../../texts/inputs.ts';
import type { FileKind } from '../form-schema.ts';
import classes from './media-field.module.css';
import { MediumPreview } from './medium-preview.tsx';

interface Order {
  place: number;
  /** Number of items. */
  count: number;
  move: (from: number, to: number, direction?: 'up' | 'down') => void;
  /** The type of data that says which item is dragged. */
  dragType: string;
}

interface MediaItemProps {
  id: string | undefined;
  label: string;
  kind: FileKind;
  /** Empty for the line that takes another URL. */
  url: string;
  isSingle: boolean;
  problem: string | undefined;
  onChange: (url: string) => void;
  remove: () => void;
  removeLabel: string;
  /** Absent if there is only one. */
  order: Order | undefined;
}

/** One file: its preview, its URL, and buttons to move and remove it. A list is also ordered by dragging previews. */
export function MediaItem(props: MediaItemProps) {
  const { id, label, kind, url, isSingle, problem, onChange, remove, removeLabel, order } = props;
  const [isTarget, setTarget] = useState(false);
  const isEmpty = url === '';
  const isOurs = ({ dataTransfer }: DragEvent) =>
    order !== undefined && dataTransfer.types.includes(order.dragType);
  return (
    <div
      className={isEmpty ? classes.empty : classes.item}
      data-single={isSingle || undefined}
      data-target={isTarget || undefined}
      onDragOver={(event) => {
        if (isEmpty || !isOurs(event)) return;
        event.preventDefault();
        setTarget(true);
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={(event) => {
        setTarget(false);
        if (isEmpty || !isOurs(event) || order === undefined) return;
        event.preventDefault();
        order.move(Number(event.dataTransfer.getData(order.dragType)), order.place);
      }}
    >
      {!isEmpty && (
        <span
          className={classes.preview}
          title={order && inputs.drag}
          draggable={order !== undefined}
          onDragStart={({ dataTransfer }) => {
            if (order === undefined) return;
            dataTransfer.setData(order.dragType, String(order.place));
            dataTransfer.effectAllowed = 'move';
          }}
        >
          <MediumPreview
            kind={kind === 'any' ? (kindOfUrl(url) ?? 'any') : kind}
            url={url}
            hasControls={isSingle}
          />
          {order !== undefined && <span className={`figures ${classes.place}`}>{order.place + 1}</span>}
        </span>
      )}
      <div className={classes.line}>
        <TextInput
          id={id}
          className={classes.url}
          size="xs"
          aria-label={label}
          placeholder={isSingle ? inputs.hint : inputs.hintMany}
          value={url}
          error={problem}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
        {!isEmpty && order !== undefined && (
          <>
            <MoveButton order={order} direction="up" />
            <MoveButton order={order} direction="down" />
          </>
        )}
        {!isEmpty && (
          <ActionIcon variant="subtle" color="gray" aria-label={removeLabel} onClick={remove}>
            <X size={14} aria-hidden />
          </ActionIcon>
        )}
      </div>
    </div>
  );
}

function MoveButton({
  order: { place, count, move },
  direction,
}: {
  order: Order;
  direction: 'up' | 'down';
}) {
  const to = direction === 'up' ? place - 1 : place + 1;
  const Arrow = direction === 'up' ? ArrowUp : ArrowDown;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={inputs[direction](place + 1)}
      data-place={place}
      data-move={direction}
      disabled={to < 0 || to >= count}
      onClick={() => move(place, to, direction)}
    >
      <Arrow size={14} aria-hidden />
    </ActionIcon>
  );
}
