/** The path of a model. Nothing in an id can add a segment or a query, because another path may run something else. */
export function modelPath(model: string): string {
  const [provider = '', ...name] = model.split('/');
  return `/v2/models/${[provider, name.join('/')].map(encodeURIComponent).join('/')}`;
}
