import { Empty } from '../../parts/empty.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts.ts';

export function RunsPage() {
  return (
    <>
      <PageTitle title={texts.frame.runs} />
      <Empty title={texts.soon.title} detail={texts.soon.detail} />
    </>
  );
}
