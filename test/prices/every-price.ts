import { type Model, pricedAt } from '#catalog';

type Priced = readonly [name: string, model: Model, atMs: number];

/** Each model at its present price and at every announced one. */
export const everyPrice = (models: readonly Model[]): Priced[] =>
  models.flatMap((model) => {
    const nowMs = Date.now();
    const days = (model.prices ?? []).flatMap(({ from }) => from ?? []);
    const coming = days.filter((day) => Date.parse(day) > nowMs);
    return [
      [model.id, pricedAt(model, nowMs), nowMs] as const,
      ...coming.map((day) => {
        const atMs = Date.parse(day);
        return [`${model.id} from ${day}`, pricedAt(model, atMs), atMs] as const;
      }),
    ];
  });
