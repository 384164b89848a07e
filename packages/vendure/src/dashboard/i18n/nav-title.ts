/** The title in the navigation. The dashboard translates it by the `.po` files. */
export const NAV_TITLE = "Gift cards";
