import { expect, it } from "vitest";
import { createFormats, readPercent } from "../src/admin/i18n/formats.js";

it("reads a percentage with a comma or a point, in any language of the admin", () => {
  for (const [typed, percent] of [
    ...[
      ["", ""],
      [" ", ""],
      ["0", "0"],
      ["7", "7"],
      ["7.5", "7.5"],
      ["7,5", "7.5"],
      [" 12,25 ", "12.25"],
    ],
    ...[
      ["100", "100"],
      ["100,0", "100.0"],
      ["0,0001", "0.0001"],
    ],
  ])
    expect(readPercent(typed as string), typed).toBe(percent);
  for (const typed of ["75%", "-1", "+7", "1e1", "7.5.1", "1,000.5", "100.1", "101", ".5", "7.", "seven", "7 5", "NaN"])
    expect(readPercent(typed), typed).toBeUndefined();
});

it("shows no amount as minus zero", () => {
  for (const language of ["en", "nl", "de", "fr"]) {
    const { money } = createFormats(language);
    expect(money(-0), language).toBe(money(0));
    expect(money(0), language).not.toMatch(/[-−]/);
    expect(money(-1), language).toMatch(/[-−]/);
  }
});
