import type { Fault } from '#providers';

/** The connection never stood, so not a byte of the request has left. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super('not connected', { cause });
    this.name = 'NotConnected';
  }
}

const dnsCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA']);
const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

/**
 * The proof in an exception of the HTTP client. Only `NotConnected` proves that nothing was sent; any failure on an
 * established connection, one of its encryption too, may have reached the provider and counts as accepted.
 */
export function faultOf(error: unknown): Fault {
  if (error instanceof NotConnected) return { fault: 'not_sent', cause: whyNotConnected(error.cause) };
  const { code = '', name = '' } = partsOf(error);
  // Such as a key that no header can hold: it is found before anything is sent.
  if (code === 'UND_ERR_INVALID_ARG') return { fault: 'not_sent', cause: 'no_key' };
  const timedOut = name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code);
  return { fault: 'ambiguous', cause: timedOut ? 'timeout' : 'reset' };
}

function whyNotConnected(cause: unknown): Extract<Fault, { fault: 'not_sent' }>['cause'] {
  // Several addresses were tried; the first failure speaks for all.
  const { code = '' } = partsOf(cause instanceof AggregateError ? cause.errors[0] : cause);
  if (code === 'REFUSED_ADDRESS') return 'refused_address';
  if (dnsCodes.has(code)) return 'dns';
  return tlsCode.test(code) ? 'tls' : 'connect';
}

function partsOf(error: unknown): { code?: string; name?: string } {
  return typeof error === 'object' && error !== null ? error : {};
}
