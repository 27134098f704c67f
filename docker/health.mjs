// Exits with 0 if the internal listener of this container's app says that it is ready.
const url = `http://127.0.0.1:${process.env.INTERNAL_PORT}/health/ready`;
const ready = await fetch(url, { signal: AbortSignal.timeout(4_000) }).then(
  (reply) => reply.ok,
  () => false,
);
process.exit(ready ? 0 : 1);
