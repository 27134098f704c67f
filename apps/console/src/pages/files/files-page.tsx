import { Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { File as FileIcon } from 'lucide-react';
import { api } from '../../api/client.ts';
import { filesQuery, type StoredFile } from '../../api/files.ts';
import { Command } from '../../parts/command.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyId } from '../../parts/copy-id.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Empty } from '../../parts/empty.tsx';
import { LoadedList } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { bytes } from '../../parts/quantities.ts';
import { texts } from '../../texts/index.ts';
import { FileUpload } from './file-upload.tsx';
import classes from './files-page.module.css';

export function FilesPage() {
  const files = useInfiniteQuery(filesQuery);
  return (
    <>
      <PageTitle title={texts.files.title} detail={texts.files.about} />
      <FileUpload />
      <LoadedList
        query={files}
        empty={
          <Empty title={texts.files.empty} detail={texts.files.emptyText}>
            <Command
              text={`curl -X POST '${location.origin}/v2/files' \\\n  -H "X-API-Key: $API_KEY" -H 'Content-Type: image/png' \\\n  --data-binary @image.png`}
              label={texts.files.copyCommand}
            />
          </Empty>
        }
      >
        {(entries) => <Files files={entries} />}
      </LoadedList>
    </>
  );
}

function Files({ files }: { files: readonly StoredFile[] }) {
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th className={classes.preview}>
            <span className="visually-hidden">{texts.files.preview}</span>
          </Table.Th>
          <Table.Th>{texts.files.file}</Table.Th>
          <Table.Th className="wide-only">{texts.files.size}</Table.Th>
          <Table.Th className="wide-only">{texts.files.expires}</Table.Th>
          <Table.Th>
            <span className="visually-hidden">{texts.files.actions}</span>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {files.map((file) => (
          <Table.Tr key={file.id}>
            <Table.Td>
              <Preview file={file} />
            </Table.Td>
            <Table.Td>
              <div>{file.content_type}</div>
              <div className={classes.small}>
                <CopyId id={file.id} />
              </div>
              <div className={`narrow-only ${classes.small}`}>
                {bytes(file.size)}, {texts.files.expires.toLowerCase()} <Moment at={file.expires_at} />
              </div>
            </Table.Td>
            <Table.Td className="figures wide-only">{bytes(file.size)}</Table.Td>
            <Table.Td className="wide-only">
              <Moment at={file.expires_at} />
            </Table.Td>
            <Table.Td>
              <div className={classes.actions}>
                <CopyText text={file.url} label={texts.files.copyUrl} />
                <Confirm
                  label={texts.files.delete}
                  of={file.id}
                  title={texts.files.deleteTitle}
                  detail={texts.files.deleteText}
                  act={() => api.DELETE('/v2/files/{file_id}', { params: { path: { file_id: file.id } } })}
                  changes={['files']}
                />
              </div>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** Shows raster images only. Other content, such as SVG, isn't rendered. */
function Preview({ file: { content_type, url } }: { file: StoredFile }) {
  const isDrawn = /^image\/(png|jpeg|webp|gif|avif)$/.test(content_type);
  return (
    <div className={classes.thumbnail}>
      {isDrawn ? <img src={url} alt="" loading="lazy" /> : <FileIcon size={16} aria-hidden />}
    </div>
  );
}
