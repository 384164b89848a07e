import { sdk } from "@lib/config";
import { getAuthHeaders } from "@lib/data/cookies";
import OrderCompletedTemplate from "@modules/order/templates/order-completed-template";

const Confirmed = async ({ params }: { params: Promise<{ id: string }> }) => {
  const { order } = await sdk.store.order.retrieve((await params).id, {}, await getAuthHeaders());
  return <OrderCompletedTemplate order={order} />;
};

export default Confirmed;
