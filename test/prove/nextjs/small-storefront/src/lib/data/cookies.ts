import "server-only";
import { cookies } from "next/headers";

const CART = "_medusa_cart_id";

export async function getAuthHeaders(): Promise<{ authorization: string } | Record<string, never>> {
  const token = (await cookies()).get("_medusa_jwt")?.value;
  return token ? { authorization: `Bearer ${token}` } : {};
}

/** The storefront caches the cart under a tag. This one reads it each time. */
export const getCacheTag = async (tag: string): Promise<string> => tag;

export const getCartId = async (): Promise<string | undefined> => (await cookies()).get(CART)?.value;

export const removeCartId = async (): Promise<void> => void (await cookies()).set(CART, "", { maxAge: -1 });
