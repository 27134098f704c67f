export { boardPath, createBoard } from './board.js';
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
export { boardSettings, type QueueSettings, queueSettings } from './settings.js';
