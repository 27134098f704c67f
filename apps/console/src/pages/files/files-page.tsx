import { Empty } from '../../parts/empty.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts.ts';

export function FilesPage() {
  return (
    <>
      <PageTitle title={texts.frame.files} />
      <Empty title={texts.soon.title} detail={texts.soon.detail} />
    </>
  );
}
