import de from "./de.json";
import en from "./en.json";
import fr from "./fr.json";
import nl from "./nl.json";

/** The name of this plugin's texts among those of the admin. `defineRouteConfig` needs it as a literal. */
export const NAMESPACE = "giftcardPayEvents";

/** The texts of this plugin's pages by language. Medusa adds them to its own; other languages get the English ones. */
export default {
  de: { [NAMESPACE]: de },
  en: { [NAMESPACE]: en },
  fr: { [NAMESPACE]: fr },
  nl: { [NAMESPACE]: nl },
};
