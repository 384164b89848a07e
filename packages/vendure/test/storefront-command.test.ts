import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const packageDir = path.resolve(import.meta.dirname, "..");
const command = path.join(packageDir, "bin/giftcard-vendure.js");
const added = "src/app/gift-cards";

/** The lines that the command changes in each file of the starter, before and after. */
const lines = {
  "src/app/checkout/checkout-flow.tsx": [
    ["import PaymentStep from './steps/payment-step';", "import PaymentStep from '@/app/gift-cards/payment-step';"],
    ["import ReviewStep from './steps/review-step';", "import ReviewStep from '@/app/gift-cards/review-step';"],
    ["import OrderSummary from './order-summary';", "import OrderSummary from '@/app/gift-cards/order-summary';"],
  ],
  "src/app/checkout/steps/payment-step.tsx": [
    [
      "import { useCheckout } from '../checkout-provider';",
      "import { useCheckout } from '@/app/gift-cards/use-checkout';",
    ],
  ],
  "src/app/checkout/steps/review-step.tsx": [
    [
      "import { useCheckout } from '../checkout-provider';",
      "import { useCheckout } from '@/app/gift-cards/use-checkout';",
    ],
    [
      "import { placeOrder as placeOrderAction } from '../actions';",
      "import { placeOrder as placeOrderAction } from '@/app/gift-cards/place-order';",
    ],
  ],
  "src/app/order-confirmation/[code]/page.tsx": [
    [
      "import {OrderConfirmation} from './order-confirmation';",
      "import {OrderConfirmation} from '@/app/gift-cards/order-confirmation';",
    ],
  ],
} as const;
const files = Object.keys(lines) as (keyof typeof lines)[];
const textOf = (file: keyof typeof lines, at: 0 | 1) =>
  `import a from 'a';\n${lines[file].map((line) => line[at]).join("\n")}\n\nexport const b = a;\n`;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-starter-"));
  await writeFile(path.join(folder, "package.json"), "{}");
  for (const file of files) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), textOf(file, 0));
  }
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(...args: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  try {
    return { exitCode: 0, ...(await promisify(execFile)(process.execPath, [command, ...args])) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { exitCode: code, stdout, stderr };
  }
}

const read = (file: string) => readFile(path.join(folder, file), "utf8");

describe("giftcard-vendure storefront", () => {
  it("adds the files, and changes seven imports in four storefront files", async () => {
    const { exitCode, stdout } = await run("storefront", folder);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("npm install @giftcard-pay/widget @lit/react");
    for (const file of files) expect(await read(file)).toBe(textOf(file, 1));
    const ours = await readdir(path.join(packageDir, "nextjs"), { recursive: true });
    expect((await readdir(path.join(folder, added), { recursive: true })).sort()).toEqual(
      [...ours, "shop-api.ts"].sort(),
    );
    expect(await read(`${added}/shop-api.ts`)).toBe(
      await readFile(path.join(packageDir, "src/storefront.mts"), "utf8"),
    );
  });

  it("shows its changes with --dry-run, and makes none", async () => {
    const { exitCode, stdout } = await run("storefront", folder, "--dry-run");
    expect(exitCode).toBe(0);
    for (const file of files) {
      expect(stdout).toContain(`would edit     ${file}`);
      expect(await read(file)).toBe(textOf(file, 0));
    }
    expect(existsSync(path.join(folder, added))).toBe(false);
  });

  it("changes nothing on a second run", async () => {
    await run("storefront", folder);
    const { exitCode, stdout } = await run("storefront", folder, "--json");
    expect(exitCode).toBe(0);
    expect(new Set(JSON.parse(stdout).steps.map(({ done }: { done: string }) => done))).toEqual(new Set(["already"]));
  });

  it("removes all of it with --remove, on every run", async () => {
    await run("storefront", folder);
    expect((await run("storefront", folder, "--remove")).exitCode).toBe(0);
    for (const file of files) expect(await read(file)).toBe(textOf(file, 0));
    expect(existsSync(path.join(folder, added))).toBe(false);
    const again = await run("storefront", folder, "--remove", "--json");
    const { steps } = JSON.parse(again.stdout);
    expect(new Set(steps.map(({ done }: { done: string }) => done))).toEqual(new Set(["already"]));
  });

  it("keeps an added file that was changed, when adding and when removing", async () => {
    await run("storefront", folder);
    await writeFile(path.join(folder, added, "shop.ts"), "// our own\n");
    for (const more of [[], ["--remove"]]) {
      const { exitCode, stdout } = await run("storefront", folder, ...more);
      expect(exitCode).toBe(1);
      expect(stdout).toContain(`LEFT AS IT IS  ${added}/shop.ts`);
    }
    expect(await readdir(path.join(folder, added))).toEqual(["shop.ts"]);
  });

  it("skips a file with unexpected text, says what belongs there, and changes the others", async () => {
    const file = "src/app/checkout/steps/payment-step.tsx";
    await writeFile(path.join(folder, file), "// our own\n");
    const { exitCode, stdout } = await run("storefront", folder);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`BY HAND        ${file}`);
    for (const line of lines[file][0]) expect(stdout).toContain(line);
    expect(await read(file)).toBe("// our own\n");
    expect(await read(files[0] as string)).toBe(textOf(files[0] as keyof typeof lines, 1));
  });

  it("rejects a folder that is no starter and an unknown option, and writes nothing", async () => {
    for (const args of [["storefront", path.join(folder, "src")], ["storefront", folder, "--force"], ["cart"]]) {
      const { exitCode, stderr } = await run(...args);
      expect(exitCode).toBe(2);
      expect(stderr).toContain("error: ");
    }
    expect(existsSync(path.join(folder, added))).toBe(false);
  });
});
