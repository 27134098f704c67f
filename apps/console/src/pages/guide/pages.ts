interface GuideText {
  title: string;
  html: string;
}

const texts = import.meta.glob<GuideText>([
  '../../../../../docs/guide/*.md',
  '../../../../../docs/errors/*.md',
]);

/** `name` is the part after `/guide/`: a page of the guide, `errors`, or `errors/<bucket>`. */
export async function guidePage(name: string): Promise<GuideText | undefined> {
  const [folder, page] = name.startsWith('errors')
    ? ['errors', name.slice('errors/'.length)]
    : ['guide', name];
  return texts[`../../../../../docs/${folder}/${page || 'README'}.md`]?.();
}
