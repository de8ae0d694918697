import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { project, repository } from "./gym-process.ts";
import { pack } from "./support/packed-project.ts";

const run = promisify(execFile);
const wanted = process.env["CI"] !== undefined || process.env["NEMO_GYM_TEST_NPM"] !== undefined;
if (!wanted)
  console.info("The guide for npm projects is not run: it installs packages. Set NEMO_GYM_TEST_NPM=1.");

/** Runs every command of the guide in an empty directory, with the package from a tarball. */
it.skipIf(!wanted)(
  "works as the guide says, from npm init to a scored run",
  { timeout: 600_000 },
  async () => {
    const guide = await readFile(path.join(repository, "docs/guide/use-as-a-dependency.md"), "utf8");
    const commands = [...guide.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
      block.trim().split("\n"),
    );
    expect(commands.length).toBeGreaterThan(8);
    const cwd = await project({});
    const tarball = await pack();
    const shell = async (command: string) => {
      const words = command.replace("npm install nemo-gym", `npm install ${tarball}`);
      const quick = words.replace(/^npm install/, "npm install --prefer-offline --no-audit --no-fund");
      return run("bash", ["-c", quick], { cwd, maxBuffer: 64 * 1024 * 1024 });
    };
    for (const command of commands) {
      const { stdout } = await shell(command).catch((error: { stdout: string; stderr: string }) => {
        throw new Error(`${command}\n${error.stdout}\n${error.stderr}`);
      });
      if (command.includes("eval run")) expect(stdout, command).toContain("Coverage:");
    }
    const rollouts = (await readFile(path.join(cwd, "results/first.jsonl"), "utf8")).trim().split("\n");
    expect(rollouts).toHaveLength(20);
    const [program = ""] = [...guide.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
    await writeFile(path.join(cwd, "evaluate.js"), program);
    expect((await shell("node evaluate.js")).stdout).toMatch(/^20 rollouts, mean reward 0[.\d]*\n$/);
  },
);
