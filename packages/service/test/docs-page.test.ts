import { endpoints } from "@giftcard-pay/client/contract";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser, openPage } from "../../../test/support/browser.js";
import { serviceForFile } from "./service-for-file.js";

const service = serviceForFile();
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

test("the page shows all nine operations under its strict policy, without requests to other hosts", async () => {
  const page = await openPage(browser);
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  const answer = await page.goto(`${service.url}/docs`);
  const policy = (await answer?.headerValue("content-security-policy")) ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(await page.locator(".operation").count()).toBe(Object.keys(endpoints).length);
  await page.locator("#devalue summary").click();
  const devalue = page.locator("#devalue");
  for (const text of ["Idempotency-Key", "cardnumber", "integer, 1 to 5000", "card_blocked", "-d amount=7498"])
    expect(await devalue.getByText(text).first().isVisible()).toBe(true);
  expect(complaints).toEqual([]);
  expect(asked).toContain(`${service.url}/docs/style.css`);
  expect(asked.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith("data:"))).toEqual([]);
  await page.close();
});
