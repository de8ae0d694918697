import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, it } from "vitest";

const python = process.env["NEMO_GYM_TEST_PYTHON"] ?? "python3";
const folder = path.resolve(import.meta.dirname, "../python");
const problem = missing();
if (problem !== undefined) console.warn(`The Python package is not tested: ${problem}.`);

it.skipIf(problem !== undefined && process.env["CI"] === undefined)(
  "the Python package for trainers passes its own tests",
  () => {
    expect(problem).toBeUndefined();
    const { status, stderr } = spawnSync(python, ["-m", "unittest"], {
      cwd: folder,
      encoding: "utf8",
      timeout: 540_000,
      maxBuffer: 64 * 1024 * 1024,
    });
    expect(status, stderr.slice(-8_000)).toBe(0);
  },
  550_000,
);

function missing(): string | undefined {
  const version = spawnSync(python, ["-c", "import sys; print(sys.version_info >= (3, 10))"], {
    encoding: "utf8",
  });
  if (version.status !== 0) return `${python} does not run`;
  if (version.stdout.trim() !== "True") return `${python} is older than 3.10`;
  return spawnSync(python, ["-c", "import aiohttp"]).status === 0
    ? undefined
    : "aiohttp is not installed (pip install aiohttp)";
}
