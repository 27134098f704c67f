import type { Model } from './model.js';

const noticeMs = 30 * 24 * 60 * 60 * 1000;

type Life = Pick<Model, 'ends'>;

/** Whether the day has come, in UTC, from which the model is not there any more. */
export const hasEnded = ({ ends }: Life): boolean => ends !== undefined && Date.now() >= Date.parse(ends);

/** Whether that day is near enough to be told. */
export const endsSoon = ({ ends }: Life): boolean =>
  ends !== undefined && Date.now() >= Date.parse(ends) - noticeMs;
