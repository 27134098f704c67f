import type { SignInLink } from '../../api/operator.ts';
import { Command } from '../../parts/command.tsx';
import { Moment } from '../../parts/moment.tsx';
import { texts } from '../../texts/index.ts';

/** A new sign-in link, with how long it works. */
export function ShownLink({ link: { url, expires_at } }: { link: SignInLink }) {
  return (
    <>
      <p>
        {texts.workspaces.linkOnce} <Moment at={expires_at} />
      </p>
      <Command text={url} label={texts.workspaces.copyLink} />
    </>
  );
}
