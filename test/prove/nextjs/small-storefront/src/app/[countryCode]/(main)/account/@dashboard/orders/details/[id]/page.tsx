import { sdk } from "@lib/config";
import { getAuthHeaders } from "@lib/data/cookies";
import OrderDetailsTemplate from "@modules/order/templates/order-details-template";

const OrderDetails = async ({ params }: { params: Promise<{ id: string }> }) => {
  const { order } = await sdk.store.order.retrieve((await params).id, {}, await getAuthHeaders());
  return <OrderDetailsTemplate order={order} />;
};

export default OrderDetails;
