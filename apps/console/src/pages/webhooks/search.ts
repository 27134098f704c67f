type DeliveryStateName = 'pending' | 'delivered' | 'given_up';

interface WebhooksSearch {
  state?: DeliveryStateName;
  /** The id of the delivery that is shown with its attempts. */
  show?: string;
}

export const webhooksSearch = ({ state, show }: Record<string, unknown>): WebhooksSearch => ({
  ...((state === 'pending' || state === 'delivered' || state === 'given_up') && { state }),
  ...(typeof show === 'string' && show !== '' && { show }),
});
