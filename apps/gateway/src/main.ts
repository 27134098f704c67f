import { setFlagsFromString } from 'node:v8';

const growsYoungBy = (factor: number): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`);

// Most objects of a start stay, so V8 would enlarge its young generation for them, to 32 MiB, and an idle gateway would
// keep that memory. The young generation may grow with the calls instead.
growsYoungBy(1);
await import('./start.js');
growsYoungBy(2);
