import { Button, Modal, SegmentedControl } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { fileLink } from '../../../../api/files.ts';
import { mediaPicker } from '../../../../texts/inputs.ts';
import type { Choice } from './choice-tile.tsx';
import { FileChoices } from './file-choices.tsx';
import type { FileKind } from '../form-schema.ts';
import classes from './media-picker.module.css';
import { OutputChoices } from './output-choices.tsx';

interface MediaPickerProps {
  kind: FileKind;
  /** How many files the field still takes. */
  room: number;
  pick: (urls: string[]) => void;
  close: () => void;
}

/** Picks from the outputs and the files of the workspace. Files without a link are uploaded first. */
export function MediaPicker({ kind, room, pick, close }: MediaPickerProps) {
  const queries = useQueryClient();
  const [source, setSource] = useState<'outputs' | 'files'>('outputs');
  const [chosen, setChosen] = useState<readonly Choice[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const toggle = (choice: Choice) =>
    setChosen((now) => {
      if (now.some(({ key }) => key === choice.key)) return now.filter(({ key }) => key !== choice.key);
      return room === 1 ? [choice] : [...now, choice];
    });
  const use = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const media = (await Promise.all(chosen.map((each) => each.media()))).flat();
      const urls = [];
      for (const { url, name } of media.slice(0, room)) urls.push(await fileLink(url, name));
      if (urls.length === 0) throw new Error(mediaPicker.unread);
      if (media.some(({ url }) => !/^https?:/.test(url)))
        void queries.invalidateQueries({ queryKey: ['files'] });
      pick(urls);
      close();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  const Choices = source === 'outputs' ? OutputChoices : FileChoices;
  const isOver = chosen.length > room;
  const shownProblem = isOver ? mediaPicker.full(room) : problem;
  return (
    <Modal opened onClose={close} title={mediaPicker.title} size={760}>
      <SegmentedControl
        size="xs"
        aria-label={mediaPicker.source}
        data={(['outputs', 'files'] as const).map((value) => ({ value, label: mediaPicker.sources[value] }))}
        value={source}
        onChange={setSource}
      />
      <div className={classes.choices}>
        <Choices kind={kind} chosen={chosen} toggle={toggle} />
      </div>
      <div className={classes.foot}>
        {shownProblem !== undefined && (
          <p role="alert" className={classes.problem}>
            {shownProblem}
          </p>
        )}
        <Button
          size="sm"
          disabled={chosen.length === 0 || isOver}
          loading={isBusy}
          onClick={() => void use()}
        >
          {mediaPicker.use(chosen.length)}
        </Button>
      </div>
    </Modal>
  );
}
