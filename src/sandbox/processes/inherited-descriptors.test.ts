import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const source = fileURLToPath(new URL("inherited-descriptors.ts", import.meta.url));

describe("coverInherited", () => {
  it("hides inherited descriptors from children", () => {
    const directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-test-"));
    const secret = path.join(directory, "secret.txt");
    const script = path.join(directory, "main.mts");
    writeFileSync(secret, "secret");
    writeFileSync(
      script,
      `import { spawnSync } from "node:child_process";
       import { coverInherited } from ${JSON.stringify(source)};
       for (const stdio of [["pipe", "pipe", "pipe"], coverInherited(["ignore", "pipe", "pipe"])])
         console.log(spawnSync("readlink", ["/proc/self/fd/40"], { stdio }).stdout.toString().trim());`,
    );
    const descriptor = openSync(secret, "r");
    try {
      const stdio = ["ignore", "pipe", "pipe", ...Array.from({ length: 37 }, () => "ignore"), descriptor];
      const { stdout, stderr } = spawnSync(process.execPath, ["--import", "jiti/register", script], {
        stdio: stdio as ("ignore" | "pipe" | number)[],
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      expect(stdout.trim().split("\n")).toEqual([secret, "/dev/null"]);
    } finally {
      closeSync(descriptor);
      rmSync(directory, { recursive: true });
    }
  });
});
