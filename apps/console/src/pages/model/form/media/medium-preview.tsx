import { AudioLines, Box, Clapperboard, File as FileIcon, Image } from 'lucide-react';
import { useState } from 'react';
import type { FileKind } from '../form-schema.ts';

const icons = { image: Image, video: Clapperboard, audio: AudioLines, '3d': Box, any: FileIcon } as const;

interface MediumPreviewProps {
  kind: FileKind;
  url: string;
  /** Whether a video or audio can be played. */
  hasControls?: boolean;
}

/** An icon stands for what can't be shown, for example because the content security policy blocks the URL. */
export function MediumPreview({ kind, url, hasControls = false }: MediumPreviewProps) {
  const [broken, setBroken] = useState<string>();
  const onError = () => setBroken(url);
  const Icon = icons[kind];
  if (/^(https?:|data:|blob:)/.test(url) && broken !== url) {
    if (kind === 'video')
      return <video src={url} controls={hasControls} muted preload="metadata" onError={onError} />;
    if (kind === 'audio' && hasControls) return <audio src={url} controls onError={onError} />;
    if (kind === 'image' || kind === 'any')
      return <img src={url} alt="" draggable={false} loading="lazy" onError={onError} />;
  }
  return <Icon size={16} aria-hidden />;
}
