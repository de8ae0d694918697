import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { project, repository } from "./gym-process.ts";

/** Guides whose bash blocks run unchanged, each in a separate folder. */
const GUIDES = [
  "evaluation.md",
  "ci.md",
  "several-environments.md",
  "troubleshooting.md",
  "coming-from.md",
  "skills.md",
  "judges.md",
  "optimizing.md",
];

/** The block of a page that begins with the name of a file. */
function yamlOf(guide: string, name: string): string {
  return guide.split(`\`\`\`yaml\n# ${name}\n`)[1]?.split("```")[0] ?? "";
}

/** A model endpoint that always returns the same answer. */
async function startEndpoint(): Promise<string> {
  const content = [{ type: "output_text", text: "[[YES]]", annotations: [] }];
  const message = { id: "m", type: "message", role: "assistant", status: "completed", content };
  const answer = { id: "r", object: "response", created_at: 0, model: "m", output: [message], tools: [] };
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...answer, parallel_tool_calls: true, tool_choice: "auto" }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

it.each(GUIDES)(
  "docs/guide/%s: every command runs, in the order of the page",
  {
    timeout: 240_000,
  },
  async (name) => {
    const guide = readFileSync(path.join(repository, "docs/guide", name), "utf8");
    const endpoint = await startEndpoint();
    const cwd = await project({
      "jobs.yaml": yamlOf(guide, "jobs.yaml"),
      "judge.yaml": yamlOf(guide, "judge.yaml"),
      "env.yaml": ["policy", "judge"]
        .map((model) => `${model}_base_url: ${endpoint}\n${model}_api_key: key\n${model}_model_name: m\n`)
        .join(""),
      "bin/gym": `#!/bin/bash\nexec ${process.execPath} -- ${path.join(repository, "bin/gym.js")} "$@"\n`,
    });
    await chmod(path.join(cwd, "bin/gym"), 0o755);
    await symlink(path.join(repository, "examples"), path.join(cwd, "examples"));
    const commands = [...guide.matchAll(/```bash\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
      block.replaceAll("\\\n", " ").trim().split("\n"),
    );
    expect(commands.length).toBeGreaterThan(1);
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
