import { Empty } from '../../parts/empty.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts.ts';

export function WebhooksPage() {
  return (
    <>
      <PageTitle title={texts.frame.webhooks} />
      <Empty title={texts.soon.title} detail={texts.soon.detail} />
    </>
  );
}
