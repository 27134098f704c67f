import { Empty } from '../../parts/empty.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { texts } from '../../texts.ts';

export function ModelsPage() {
  return (
    <>
      <PageTitle title={texts.frame.models} />
      <Empty title={texts.soon.title} detail={texts.soon.detail} />
    </>
  );
}
