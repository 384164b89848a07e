import { getAuthToken } from "@/lib/auth";
import { shopApiTransport } from "../shop-api";

const url = process.env.VENDURE_SHOP_API_URL || process.env.NEXT_PUBLIC_VENDURE_SHOP_API_URL || "";
const channelToken =
  process.env.VENDURE_CHANNEL_TOKEN || process.env.NEXT_PUBLIC_VENDURE_CHANNEL_TOKEN || "__default_channel__";
const channelHeader = process.env.VENDURE_CHANNEL_TOKEN_HEADER || "vendure-token";

/**
 * Forwards a call of `<giftcard-pay>` to the Shop API with the shopper's session, whose cookie the page can't read. Card
 * number and PIN are in the body only, so that no log of addresses has them.
 */
async function forward(request: Request): Promise<Response> {
  const token = await getAuthToken();
  // Vendure limits wrong PINs by this address, if its plugin trusts the header.
  const address = request.headers.get("x-forwarded-for");
  const transport = shopApiTransport({
    url,
    headers: () => ({
      [channelHeader]: channelToken,
      ...(token && { authorization: `Bearer ${token}` }),
      ...(address && { "x-forwarded-for": address }),
    }),
    credentials: "omit",
  });
  try {
    return await transport(request.url, {
      method: request.method,
      body: request.method === "POST" ? await request.text() : null,
      signal: request.signal,
    });
  } catch {
    // The error is not logged: it may contain the request's data.
    return Response.json({ code: "service_unavailable" }, { status: 503 });
  }
}

export { forward as DELETE, forward as GET, forward as POST };
