/**
 * A process that was started by the local launcher holds an IPC channel to it. When the channel closes,
 * the launcher is gone (killed, perhaps): stop as if asked to, and at the latest after three seconds.
 */
export function stopWithParent(): void {
  if (!process.channel) return;
  process.channel.unref();
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), 3000).unref();
    process.kill(process.pid, 'SIGTERM');
  });
}
