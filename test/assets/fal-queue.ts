import { json, type ReceivedCall, type Reply, ScriptedServer, status } from '../harness/index.js';

/** fal's queue, whose runs finish immediately with the results that a test writes. */
export class FalQueue extends ScriptedServer {
  /** JSON by prompt. */
  readonly results = new Map<string, string>();
  readonly inputs: { prompt: string }[] = [];

  /**
   * A result as a provider might write it: odd spacing, a number beyond double precision, and the URLs of its
   * images.
   */
  script(prompt: string, urls: readonly string[]): string {
    const images = urls.map((url) => `{ "url" : ${JSON.stringify(url)},"width":9007199254740993 }`);
    const text = `{"prompt":${JSON.stringify(prompt)},\r\n "images" : [${images.join(' , ')} ],"seed":1.0e2,"é":"\\u00e9"}\n`;
    this.results.set(prompt, text);
    return text;
  }

  protected override replyTo({ method, path, text }: ReceivedCall): Reply {
    if (method === 'POST') return this.accept(text);
    const [, id, what] = /^\/requests\/(\d+)(\/status)?$/.exec(path) ?? [];
    if (id === undefined) return status(404);
    if (what !== undefined) return json({ status: 'COMPLETED' });
    return json(this.results.get(this.inputs[Number(id)]?.prompt ?? '') ?? {});
  }

  private accept(input: string): Reply {
    const address = `${this.url}/requests/${this.inputs.push(JSON.parse(input) as { prompt: string }) - 1}`;
    return json({
      request_id: address,
      status_url: `${address}/status`,
      response_url: address,
      cancel_url: `${address}/cancel`,
    });
  }
}

/** The URLs of the images in a result. */
export const urlsOf = (bytes: Buffer): string[] =>
  (JSON.parse(bytes.toString()) as { images: { url: string }[] }).images.map(({ url }) => url);

/** An image that ends before its declared length. */
export const short: Reply = (_call, response) => {
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': 1000 });
  response.write('x', () => response.destroy());
};
