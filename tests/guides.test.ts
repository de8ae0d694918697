import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { project, repository } from "./gym-process.ts";

/** Guides whose bash blocks run as they stand, in a folder of their own. */
const GUIDES = [
  "evaluation.md",
  "ci.md",
  "several-environments.md",
  "troubleshooting.md",
  "coming-from.md",
  "skills.md",
];

it.each(GUIDES)(
  "docs/guide/%s: every command runs, in the order of the page",
  {
    timeout: 240_000,
  },
  async (name) => {
    const guide = readFileSync(path.join(repository, "docs/guide", name), "utf8");
    const cwd = await project({
      "jobs.yaml": /```yaml\n# jobs\.yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? "",
      "bin/gym": `#!/bin/bash\nexec ${process.execPath} -- ${path.join(repository, "bin/gym.js")} "$@"\n`,
    });
    await chmod(path.join(cwd, "bin/gym"), 0o755);
    const commands = [...guide.matchAll(/```bash\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
      block.trim().split("\n"),
    );
    expect(commands.length).toBeGreaterThan(2);
    const env = { PATH: `${path.join(cwd, "bin")}:${process.env["PATH"]}`, HOME: cwd, TMPDIR: cwd };
    for (const command of commands) {
      const said = await new Promise<string>((resolve) => {
        execFile("bash", ["--norc", "-c", command], { cwd, env, timeout: 60_000 }, (error, stdout, stderr) =>
          resolve(error ? `exit ${error.code}\n${stdout}\n${stderr}` : "fine"),
        );
      });
      expect(said, command).toBe("fine");
    }
    if (name !== "evaluation.md") return;
    const rows = (file: string) => readFileSync(path.join(cwd, file), "utf8").trimEnd().split("\n").length;
    expect(rows("results/joined.jsonl")).toBe(rows("results/a.jsonl"));
    expect(rows("results/rescored.jsonl")).toBe(rows("results/a.jsonl"));
  },
);
