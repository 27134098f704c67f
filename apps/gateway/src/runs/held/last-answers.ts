import type { Socket } from 'node:net';

/** A caller whose connection has lasted so long is taken to have read its answer, whatever ends the connection. */
const doubtMs = 30_000;

/**
 * What to do when a connection is reset before its caller has read the last answer on it. A small answer is in the hands of
 * the operating system at once, whether or not anybody reads it: a caller that dies without having done so is noticed by the
 * reset alone. One that sends another request has read the answer.
 */
export class LastAnswers {
  private readonly answers = new WeakMap<Socket, { requestBytes: number; atMs: number; lost: () => void }>();

  sent(socket: Socket, lost: () => void): void {
    if (!this.answers.has(socket)) socket.once('close', (isReset: boolean) => this.closed(socket, isReset));
    this.answers.set(socket, { requestBytes: socket.bytesRead, atMs: performance.now(), lost });
  }

  private closed(socket: Socket, isReset: boolean): void {
    const answer = this.answers.get(socket);
    if (!isReset || answer === undefined || socket.bytesRead !== answer.requestBytes) return;
    if (performance.now() - answer.atMs < doubtMs) answer.lost();
  }
}
