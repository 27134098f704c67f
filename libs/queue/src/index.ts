export { createTransport } from './create-transport.js';
export { dispatchNow } from './dispatch-now.js';
export type {
  Consumer,
  Consumption,
  Delivery,
  Handler,
  LaneCounts,
  LaneKind,
  Log,
  Transport,
  Verdict,
} from './port.js';
export { type QueueSettings, queueSettings } from './settings.js';
