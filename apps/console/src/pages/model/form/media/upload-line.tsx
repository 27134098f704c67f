import { ActionIcon, Button, Progress } from '@mantine/core';
import { CircleX, X } from 'lucide-react';
import { inputs } from '../../../../texts/inputs.ts';
import classes from './media-field.module.css';
import type { Upload } from './use-uploads.ts';

interface UploadLineProps {
  upload: Upload;
  retry: () => void;
  drop: () => void;
}

/** A file on its way: how much of it has been sent, or why it failed. */
export function UploadLine({ upload, retry, drop }: UploadLineProps) {
  const { file, share, problem, isRefused } = upload;
  const percent = Math.round(share * 100);
  return (
    <div className={classes.upload}>
      {problem === undefined ? (
        <>
          <span className={classes.name}>{file.name}</span>
          <Progress
            className={classes.progress}
            value={percent}
            size="sm"
            aria-label={inputs.uploading(file.name)}
          />
          <span className={`figures ${classes.percent}`}>{share === 0 ? inputs.waiting : `${percent}%`}</span>
        </>
      ) : (
        <>
          <CircleX size={14} className={classes.failed} aria-hidden />
          <span role="alert" className={classes.problem}>
            {inputs.failed(file.name, problem)}
          </span>
          {!isRefused && (
            <Button variant="default" size="compact-xs" onClick={retry}>
              {inputs.retry}
            </Button>
          )}
        </>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={problem === undefined ? inputs.cancel(file.name) : inputs.dismiss(file.name)}
        onClick={drop}
      >
        <X size={14} aria-hidden />
      </ActionIcon>
    </div>
  );
}
