import type { Fault } from '#providers';

/** The connection was never established, so no byte of the request was sent. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super('not connected', { cause });
    this.name = 'NotConnected';
  }
}

const dnsCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA']);
const tlsCode = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

/**
 * Classifies an exception of the HTTP client by what it proves. Only `NotConnected` proves that nothing was
 * sent. After any failure on an established connection, TLS errors included, the request may have reached the
 * provider and counts as accepted.
 */
export function faultOf(error: unknown): Fault {
  if (error instanceof NotConnected) return { fault: 'not_sent', cause: whyNotConnected(error.cause) };
  const { code = '', name = '' } = partsOf(error);
  // The client checks arguments, such as a key that is not a valid header, before it sends anything.
  if (code === 'UND_ERR_INVALID_ARG') return { fault: 'not_sent', cause: 'no_key' };
  const timedOut = name === 'TimeoutError' || /TIMEOUT|ETIMEDOUT/.test(code);
  return { fault: 'ambiguous', cause: timedOut ? 'timeout' : 'reset' };
}

function whyNotConnected(cause: unknown): Extract<Fault, { fault: 'not_sent' }>['cause'] {
  // If several addresses were tried, the first failure stands for all.
  const { code = '' } = partsOf(cause instanceof AggregateError ? cause.errors[0] : cause);
  if (code === 'REFUSED_ADDRESS') return 'refused_address';
  if (dnsCodes.has(code)) return 'dns';
  return tlsCode.test(code) ? 'tls' : 'connect';
}

function partsOf(error: unknown): { code?: string; name?: string } {
  return typeof error === 'object' && error !== null ? error : {};
}
