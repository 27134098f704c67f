export { createDatabase, type TestDatabase } from './database.js';
export { failOnLeftovers } from './leftovers.js';
export { temporaryFolder, trackChild } from './running.js';
export { startRedis } from './servers.js';
export { tcpProxy, type TcpProxy } from './tcp-proxy.js';
export { eitherTransport, transports, type TransportKind } from './transports.js';
export { longTimeouts } from './long-timeouts.js';
export { Caller, type Answer, type Submitted } from './caller.js';
export { newTag, unending } from './provider-side.js';
export { openEvents } from './events.js';
export { openAnswer, type LiveAnswer } from './streams.js';
export { Receiver, verified } from './receiver.js';
export {
  content,
  file,
  json,
  redirect,
  type ReceivedCall,
  type Reply,
  reset,
  ScriptedServer,
  sendPieces,
  status,
} from './scripted-server.js';
export { sha256 } from './digest.js';
export { storedFiles } from './stored-files.js';
export { ownStorage } from './shared/described.js';
export { sharedSystem } from './shared/shared-system.js';
export { type SystemSide, type TestCaller } from './system-side.js';
export { waitFor } from './wait-for.js';
