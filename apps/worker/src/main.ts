import { setFlagsFromString } from 'node:v8';

const growsYoungBy = (factor: number): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`);

// V8 collects garbage once the heap has grown to a multiple of its live objects, up to four times. A worker's
// live objects are those of its calls in flight, so the default would double its memory without saving CPU.
setFlagsFromString('--heap-growing-percent=40');

// Most objects of a start stay, so V8 would enlarge its young generation for them, to 32 MiB, and an idle worker would
// keep that memory. The young generation may grow with the calls instead.
growsYoungBy(1);
await import('./start.js');
growsYoungBy(2);
