/** Runs the files in the order of SPEC_ORDER, where Jest would begin with the slowest. */
export default class SpecOrder {
  sort(tests) {
    const order = (process.env.SPEC_ORDER ?? '').split('\n');
    const place = ({ path }) => order.findIndex((file) => path.endsWith(`/${file}`));
    return [...tests].sort((left, right) => place(left) - place(right));
  }

  cacheResults() {}
}
