import { ActionIcon, Button, Loader, TextInput } from '@mantine/core';
import { FileUp, X } from 'lucide-react';
import { type DragEvent, useRef, useState } from 'react';
import { call } from '../../../api/client.ts';
import { texts } from '../../../texts/index.ts';
import classes from './form.module.css';
import type { FileKind } from './form-schema.ts';

const { form } = texts;

const accepted: Record<FileKind, string | undefined> = {
  image: 'image/*',
  video: 'video/*',
  audio: 'audio/*',
  '3d': '.glb,.gltf,.obj,.stl,.fbx,.usdz',
  any: undefined,
};

interface FileFieldProps {
  id: string;
  label: string;
  kind: FileKind;
  value: string;
  onChange: (url: string) => void;
}

/** The value is a URL: any public one, or the URL of a file that is dropped, picked or pasted and then uploaded. */
export function FileField({ id, label, kind, value, onChange }: FileFieldProps) {
  const picker = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [sending, setSending] = useState<string>();

  const send = async (file: File | undefined) => {
    if (file === undefined) return;
    setProblem(undefined);
    setSending(file.name);
    try {
      const headers = { 'content-type': file.type || 'application/octet-stream' };
      const answer = await call('/v2/files', { method: 'POST', headers, body: file });
      onChange(((await answer.json()) as { url: string }).url);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setSending(undefined);
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    const link = event.dataTransfer.getData('text/uri-list');
    if (file === undefined && link !== '') onChange(link);
    else void send(file);
  };
  return (
    <div
      className={classes.drop}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <FilePreview kind={kind} url={value} />
      <div className={classes.dropLine}>
        <Button
          variant="default"
          size="xs"
          leftSection={sending === undefined ? <FileUp size={14} aria-hidden /> : <Loader size={12} />}
          disabled={sending !== undefined}
          onClick={() => picker.current?.click()}
          aria-label={form.pick(label)}
        >
          {sending === undefined ? form.drop : form.sending(sending)}
        </Button>
        <TextInput
          id={id}
          className={classes.url}
          size="xs"
          aria-label={form.urlOf(label)}
          placeholder={form.orUrl}
          value={value}
          error={problem}
          onChange={(event) => onChange(event.currentTarget.value)}
          onPaste={(event) => {
            const [file] = event.clipboardData.files;
            if (file !== undefined) void send(file);
          }}
          rightSection={
            value !== '' && (
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-label={form.clear(label)}
                onClick={() => onChange('')}
              >
                <X size={14} aria-hidden />
              </ActionIcon>
            )
          }
        />
      </div>
      <input
        ref={picker}
        type="file"
        hidden
        accept={accepted[kind]}
        onChange={(event) => {
          void send(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}

/** Hidden for 3D models, and if the URL doesn't load, for example because the content security policy blocks it. */
function FilePreview({ kind, url }: { kind: FileKind; url: string }) {
  const [isBroken, setBroken] = useState<string>();
  if (!/^(https?:|data:)/.test(url) || isBroken === url) return null;
  const onError = () => setBroken(url);
  if (kind === 'video')
    return <video className={classes.preview} src={url} controls muted onError={onError} />;
  if (kind === 'audio') return <audio className={classes.preview} src={url} controls onError={onError} />;
  if (kind === '3d') return null;
  return <img className={classes.preview} src={url} alt="" onError={onError} />;
}
