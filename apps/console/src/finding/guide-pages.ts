interface GuideText {
  title: string;
  html: string;
}

const texts = import.meta.glob<GuideText>(['../../../../docs/guide/*.md', '../../../../docs/errors/*.md']);

/** The pages of the guide: the part of their address after `/guide/`, and a readable name. */
export const guidePages: readonly { name: string; label: string }[] = Object.keys(texts).flatMap((file) => {
  const [, folder, page] = /\/(guide|errors)\/([\w-]+)\.md$/.exec(file) ?? [];
  if (page === undefined || page === 'README') return [];
  const words = page.replaceAll(/[-_]/g, ' ');
  return folder === 'errors'
    ? [{ name: `errors/${page}`, label: page }]
    : [{ name: page, label: words.charAt(0).toUpperCase() + words.slice(1) }];
});

/** `name` is the part after `/guide/`: a page of the guide, `errors`, or `errors/<bucket>`. */
export async function guidePage(name: string): Promise<GuideText | undefined> {
  const [folder, page] = name.startsWith('errors')
    ? ['errors', name.slice('errors/'.length)]
    : ['guide', name];
  return texts[`../../../../docs/${folder}/${page || 'README'}.md`]?.();
}
