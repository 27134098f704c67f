import { Button, FileButton } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Upload } from 'lucide-react';
import { type DragEvent, useState } from 'react';
import { uploadFile } from '../../api/files.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Failure } from '../../parts/failure.tsx';
import { texts } from '../../texts/index.ts';
import classes from './files-page.module.css';

/** Takes dropped or chosen files and uploads them one after another. */
export function FileUpload() {
  const queries = useQueryClient();
  const [isOver, setOver] = useState(false);
  const upload = useMutation({
    mutationFn: async (files: readonly File[]) => {
      const stored = [];
      for (const file of files) stored.push(await uploadFile(file));
      return stored;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['files'] }),
  });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const files = [...event.dataTransfer.files];
    if (files.length > 0) upload.mutate(files);
  };
  const last = upload.data?.at(-1);
  return (
    <section className={classes.upload}>
      <div
        className={classes.drop}
        data-over={isOver}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <Upload size={20} aria-hidden />
        <span>{texts.files.drop}</span>
        <FileButton multiple onChange={(files) => files.length > 0 && upload.mutate(files)}>
          {(props) => (
            <Button {...props} variant="default" size="xs" loading={upload.isPending}>
              {texts.files.choose}
            </Button>
          )}
        </FileButton>
      </div>
      <div role="status">
        {last !== undefined && (
          <p className={classes.uploaded}>
            {texts.files.uploaded(upload.data?.length ?? 0)}{' '}
            <CopyText text={last.url} label={texts.files.copyUrl} />
          </p>
        )}
      </div>
      {upload.error && <Failure error={upload.error} title={texts.files.notUploaded} />}
    </section>
  );
}
