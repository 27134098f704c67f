type DeliveryStateName = 'pending' | 'delivered' | 'given_up';

export const webhooksSearch = ({ state }: Record<string, unknown>): { state?: DeliveryStateName } =>
  state === 'pending' || state === 'delivered' || state === 'given_up' ? { state } : {};
