import { Empty } from '../../parts/empty.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts.ts';

export function QueuesPage() {
  return (
    <>
      <PageTitle title={texts.frame.queues} />
      <Empty title={texts.soon.title} detail={texts.soon.detail} />
    </>
  );
}
