import { existsSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { type HarnessLaunch, promptArguments } from "./define-cli-agent.ts";
import { openLocalHost, runHarness } from "./harness-run.ts";

/** Runs a shell script as if it were a harness. */
async function run(script: string, options: { launch?: Partial<HarnessLaunch>; timeoutMs?: number } = {}) {
  const seen: string[] = [];
  const host = await openLocalHost();
  const outcome = await runHarness({
    program: "/bin/bash",
    node: process.execPath,
    host,
    timeoutMs: options.timeoutMs ?? 10_000,
    signal: AbortSignal.timeout(20_000),
    launch: () => ({ args: ["-c", script], ...options.launch }),
    read: (event, transcript) => transcript.message(String(event["say"])),
    onItems: (items) => seen.push(...items.map(({ type }) => type ?? "")),
  });
  return { outcome, seen, place: host.place, errors: outcome.stderr };
}

/** A process that has ended, but whose parent has not noticed, has no working directory any more. */
const isRunning = (pid: number): boolean => {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) !== "";
  } catch {
    return false;
  }
};

it("reads events as they arrive and skips other lines", async () => {
  const { outcome, seen, place } = await run(
    `echo warning; echo '{"say": "a"}'; echo '{broken'; echo '{"say": "b"}'`,
  );
  expect(seen).toEqual(["message", "message"]);
  expect(outcome).toMatchObject({ code: 0, timedOut: false });
  expect(existsSync(place.home)).toBe(false);
});

it("keeps events before the time limit and ends processes outside the process group", async () => {
  const script = `setsid bash -c 'echo $$ >&2; sleep 600' & sleep 0.5; echo '{"say": "a"}'; sleep 600`;
  const { outcome, errors } = await run(script, { timeoutMs: 2_000 });
  expect(outcome.timedOut).toBe(true);
  expect(outcome.transcript.items).toHaveLength(1);
  const pid = Number(errors.trim());
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isRunning(pid)).toBe(false);
});

it("writes files and folders to the home of the harness", async () => {
  const skills = await mkdtemp(path.join(os.tmpdir(), "skills-"));
  await mkdir(path.join(skills, "tides", "notes"), { recursive: true });
  await writeFile(path.join(skills, "tides", "SKILL.md"), "---\nname: tides\n---\n");
  await writeFile(path.join(skills, "tides", "notes", "moon.md"), "full");
  const launch = { copies: { ".tool/skills": skills }, files: { ".tool/config.json": "{}" } };
  const { errors } = await run("cd && find . -type f | sort >&2", { launch });
  expect(errors.trim().split("\n")).toEqual([
    "./.tool/config.json",
    "./.tool/skills/tides/SKILL.md",
    "./.tool/skills/tides/notes/moon.md",
  ]);
});

it("gives a prompt that is too long for an argument to standard input", async () => {
  const prompt = "x".repeat(300_000);
  const { args, stdin } = promptArguments(prompt, { before: ["--"], piped: ["-"] });
  expect(args).toEqual(["-"]);
  const { errors } = await run("wc -c >&2", { launch: { stdin } });
  expect(Number(errors)).toBe(prompt.length);
  expect(promptArguments("short", { before: ["--"], piped: ["-"] })).toEqual({ args: ["--", "short"] });
});
