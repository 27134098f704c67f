// Many waiting runs of one provider: ten workers that take them at once, and the cost of runs among them that are
// not due yet.
import { drain } from './drain.mjs';
import { against, atMost, costGrowth, share } from './load.mjs';
import { costText } from './meter.mjs';
import { startService } from './service.mjs';
import { sizeOf } from './size.mjs';

const workers = sizeOf('LINE_WORKERS');
const postponed = sizeOf('OUTSTANDING');

const withoutOthers = (each) => each.map(({ floor }) => floor);

export async function* run() {
  const service = await startService();
  try {
    const spaces = await service.customers(sizeOf('WORKSPACES'));
    const rounds = await against(
      () => drain(service, { spaces, workers }),
      () => drain(service, { spaces, workers, postponed }),
    );
    const figures = (of) => rounds.map(({ floor, ours }) => ({ floor: of(floor), ours: of(ours) }));
    const [rates, costs] = [figures(({ perSecond }) => perSecond), figures(({ cpu }) => cpu.postgres)];
    const what = `${workers} workers, 50 workspaces, one provider`;
    yield {
      ...atMost(`runs drained by ${what}`, withoutOthers(rates), Infinity, 'a second'),
      more: [`a run: ${costText(rounds.at(-1).floor)}`],
    };
    yield atMost(`Postgres CPU of a run drained by ${what}`, withoutOthers(costs), Infinity, 'ms', 2);
    const beside = `beside ${postponed} runs of the provider that are due in an hour, against none`;
    yield {
      ...share(`runs drained ${beside}`, rates, 0),
      more: [`a run: ${costText(rounds.at(-1).ours)}`],
    };
    yield costGrowth(`Postgres CPU of a run drained ${beside}`, costs, Infinity);
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}
