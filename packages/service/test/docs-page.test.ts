import { endpoints } from "@giftcard-pay/client/contract";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { press } from "../../../scripts/lib/press.mjs";
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

test("the docs page shows all operations under a strict content security policy, without requests to other hosts", async () => {
  const page = await openPage(browser);
  const requestedUrls: string[] = [];
  const consoleMessages: string[] = [];
  page.on("request", (request) => requestedUrls.push(request.url()));
  page.on("console", (message) => consoleMessages.push(message.text()));
  page.on("pageerror", (error) => consoleMessages.push(error.message));
  const answer = await page.goto(`${service.url}/docs`);
  const policy = (await answer?.headerValue("content-security-policy")) ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(await page.locator(".operation").count()).toBe(Object.keys(endpoints).length);
  await press(page.locator("#devalue summary"));
  const devalue = page.locator("#devalue");
  for (const text of ["Idempotency-Key", "cardnumber", "integer, 1 to 5000", "card_blocked", "-d amount=7498"])
    expect(await devalue.getByText(text).first().isVisible()).toBe(true);
  expect(consoleMessages).toEqual([]);
  expect(requestedUrls).toContain(`${service.url}/docs/style.css`);
  expect(requestedUrls.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith("data:"))).toEqual([]);
  await page.close();
});
