/** The name of this plugin's texts among those of the admin. `defineRouteConfig` needs it as a literal. */
export const NAMESPACE = "giftcardPayEvents";
