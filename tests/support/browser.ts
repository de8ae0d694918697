import { existsSync } from "node:fs";
import path from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** `required` makes a missing browser a failure; any other value is the path of a browser. */
const CHOSEN = process.env["NEMO_GYM_TEST_BROWSER"];

/** The Chromium of this machine. Without one the tests that need it are skipped, unless they are required. */
export function findBrowser(): string | undefined {
  if (CHOSEN !== undefined && CHOSEN !== "required") return CHOSEN;
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  const found = folders
    .flatMap((folder) => NAMES.map((name) => path.join(folder, name)))
    .find((file) => existsSync(file));
  if (found === undefined && CHOSEN === "required") throw new Error("No Chromium is installed.");
  if (found === undefined) console.log("Without Chromium on the PATH the viewer is not tested in a browser.");
  return found;
}

/** Starts it with a new profile, which is removed when it closes. */
export function startBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
