import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/**
 * Lets a Web-standard handler answer in `node:http`, and in Express and others that give `req` and `res`. Mount it
 * before anything that reads bodies.
 *
 * @param handler such as `createHandler` makes
 * @param options.origin the shop's own origin as browsers see it, such as `https://shop.example`, where a proxy stands
 *   before the server. Default: `http://` and the request's host
 */
export function toNodeListener(
  handler: (request: Request) => Promise<Response>,
  options: { origin?: string } = {},
): (req: IncomingMessage & { originalUrl?: string }, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    const origin = options.origin ?? `http://${req.headers.host ?? "localhost"}`;
    const headers = new Headers();
    for (let i = 0; i < req.rawHeaders.length; i += 2) {
      headers.append(req.rawHeaders[i] ?? "", req.rawHeaders[i + 1] ?? "");
    }
    const hasBody = req.method !== "GET" && req.method !== "HEAD";
    const init: RequestInit & { duplex?: "half" } = { method: req.method ?? "GET", headers };
    if (hasBody) Object.assign(init, { body: Readable.toWeb(req), duplex: "half" });
    let response: Response;
    try {
      // Express takes the part of the path that it mounted off `url`, and keeps the whole in `originalUrl`.
      response = await handler(new Request(new URL(req.originalUrl ?? req.url ?? "/", origin), init));
    } catch {
      // A request that the Web's own rules refuse, such as a forbidden method or a broken address.
      response = new Response(null, { status: 400 });
    }
    res.writeHead(response.status, Object.fromEntries(response.headers));
    res.end(Buffer.from(await response.arrayBuffer()));
  };
}
