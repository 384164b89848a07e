import { expect, it } from "vitest";
import { createFormats } from "../src/admin/i18n/formats.js";

it("shows no amount as minus zero", () => {
  for (const language of ["en", "nl", "de", "fr"]) {
    const { money } = createFormats(language);
    expect(money(-0), language).toBe(money(0));
    expect(money(0), language).not.toMatch(/[-−]/);
    expect(money(-1), language).toMatch(/[-−]/);
  }
});
