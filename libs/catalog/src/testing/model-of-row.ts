import { type Model, readModel } from '../model.js';

/** The model of a row that must be valid. */
export function modelOfRow(row: object): Model {
  const read = readModel(row);
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.model;
}
