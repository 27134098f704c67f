const lookEveryMs = 500;

/**
 * Settles at Ctrl-C, SIGTERM, a closed terminal, and when npm has died without forwarding its signal. A
 * launcher that was started without npm may outlive its parent: it is somebody's background job.
 */
export function untilAskedToStop(env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
    if (env['npm_lifecycle_event'] === undefined) return;
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) resolve();
    }, lookEveryMs).unref();
  });
}
