/** Serves the simulated shop's gift card routes to the widget's tests over HTTP. */
import { answerCall } from "./shop-carts.mjs";

/** Middleware for the test server. */
export async function shop(context, next) {
  if (!new URL(context.url, "http://shop").pathname.startsWith("/shop/")) return next();
  const text = await bodyOf(context.req);
  const { method, url, headers } = context;
  const answer = await answerCall({ method, url, headers, text });
  if ("cut" in answer) return cut(context, answer.cut === "begun");
  context.type = "json";
  context.status = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) context.set(name, value);
  context.body = answer.body;
}

/** Breaks the connection after the first bytes of a response, or before them. Then the browser may send the call again. */
function cut(context, begun) {
  context.status = 200;
  context.respond = false;
  if (begun) context.res.writeHead(200, { "content-length": 999 }).write("{");
  setTimeout(() => context.req.socket.destroy(), 20);
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
