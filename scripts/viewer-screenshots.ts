// Takes the pictures of docs/guide/viewer.md and docs/guide/board.md: `npm run build && node dist/scripts/viewer-screenshots.js [directory]`.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { writeDemoBoard } from "./viewer/board-runs.ts";
import { writeDemoRuns } from "./viewer/demo-runs.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const target = path.resolve(process.argv[2] ?? path.join(root, "docs/guide/images"));
const RUN = "run/repair%2Flarge-model";

/** Name of the picture, page, and differences from a light window of 1280 px. */
interface Picture {
  name: string;
  hash: string;
  width?: number;
  height?: number;
  dark?: boolean;
}

const PAGES: readonly Picture[] = [
  { name: "runs", hash: "#/runs", height: 320 },
  { name: "overview", hash: `#/${RUN}/overview`, height: 1150 },
  { name: "tasks", hash: `#/${RUN}/tasks`, height: 760 },
  { name: "rollouts", hash: `#/${RUN}/rollouts`, height: 560 },
  { name: "rollout", hash: `#/${RUN}/task/0/rollout/1?side=outline`, height: 1200 },
  { name: "rollout-dark", hash: `#/${RUN}/task/4/rollout/2`, height: 760, dark: true },
  { name: "failure", hash: `#/${RUN}/failure/2`, height: 620 },
  { name: "repeats", hash: `#/${RUN}/task/4`, height: 900 },
  { name: "compare", hash: "#/compare?runs=repair%252Fsmall-model%2Crepair%252Flarge-model", height: 900 },
  { name: "live", hash: "#/run/quiz/live", height: 620 },
  { name: "rollout-390", hash: `#/${RUN}/task/0/rollout/1`, width: 390, height: 844 },
];

const BOARD_PAGES: readonly Picture[] = [{ name: "board", hash: "#/board?name=code", height: 880 }];

const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-shots-"));
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const runs = path.join(directory, "runs");
const boardRuns = path.join(directory, "board");
await writeDemoRuns(runs);
await writeDemoBoard(boardRuns);
const gym = (words: readonly string[], output: "pipe" | "ignore") =>
  spawn(process.execPath, [path.join(root, "bin/gym.js"), ...words], {
    cwd: runs,
    stdio: ["ignore", output, output === "pipe" ? "inherit" : "ignore"],
  });
/** A run in progress, for the live page. */
const collection = gym(
  [
    ...["eval", "run", "--resources-server", "mcqa", "--model-type", "random_model", "--num-repeats", "40"],
    ...["++policy_model.responses_api_models.random_model.latency_ms=4000", "--concurrency", "8"],
    ...["-o", "quiz/rollouts.jsonl"],
  ],
  "ignore",
);
while (!existsSync(path.join(runs, "quiz/rollouts_progress.json"))) await sleep(200);
// Until then a few rollouts are done.
await sleep(12_000);
try {
  await mkdir(target, { recursive: true });
  await takePictures(runs, PAGES);
  await takePictures(boardRuns, BOARD_PAGES);
} finally {
  collection.kill("SIGKILL");
  await browser.close();
  await rm(directory, { recursive: true, force: true });
}

async function takePictures(of: string, pictures: readonly Picture[]): Promise<void> {
  const viewer = gym(["eval", "view", of, "--port", "0", "--json"], "pipe");
  try {
    const url = await addressOf(viewer);
    for (const { name, hash, width = 1280, height = 800, dark = false } of pictures) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: dark ? "dark" : "light",
      });
      const page = await context.newPage();
      await page.goto(url.replace(/#.*/, "") + hash);
      await page.waitForLoadState("networkidle", { timeout: 3000 }).catch(() => {});
      await page.waitForTimeout(1000);
      await writeFile(path.join(target, `viewer-${name}.webp`), await asWebp(await page.screenshot()));
      await context.close();
      console.log(`viewer-${name}.webp`);
    }
  } finally {
    viewer.kill();
  }
}

/** Encodes a PNG as WebP at a quality that keeps text readable: the pictures are part of the package. */
async function asWebp(png: Buffer): Promise<Buffer> {
  const page = await browser.newPage();
  // A browser script as text: these files are checked without the DOM types.
  const encoded = await page.evaluate<string>(`(async () => {
    const reply = await fetch("data:image/png;base64,${png.toString("base64")}");
    const image = await createImageBitmap(await reply.blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.5 });
    const bytes = new Uint8Array(await blob.arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  })()`);
  await page.close();
  return Buffer.from(encoded, "base64");
}

/** The address that a viewer prints. */
async function addressOf(viewer: ReturnType<typeof gym>): Promise<string> {
  for await (const chunk of viewer.stdout ?? []) {
    const found = /"url":"([^"]+)"/.exec(String(chunk))?.[1];
    if (found) return found;
  }
  throw new Error("The viewer did not start.");
}
