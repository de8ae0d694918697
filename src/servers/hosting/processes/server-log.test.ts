import { channel } from "node:diagnostics_channel";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RolloutContext } from "../rollout-attribution.ts";
import { logSandboxCommands, ServerLog } from "./server-log.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nemo-gym-log-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("removes the name prefix from lines of Python servers", async () => {
  const lines: string[] = [];
  const log = new ServerLog({ server: "mcqa", onLine: (line) => lines.push(line), onFileError: () => {} });
  const output = Readable.from(["(mcqa) Started\n(mcqa) (mcqa)", " twice\nplain (mcqa)\n"]);
  log.follow(output, "info");
  await finished(output);
  expect(lines).toEqual(["Started", "(mcqa) twice", "plain (mcqa)"]);
});

it("writes the time before each line of the file", async () => {
  const shown: string[] = [];
  const log = new ServerLog({
    server: "a/b",
    directory,
    onLine: (line) => shown.push(line),
    onFileError: () => {},
  });
  log.logger.warn("busy");
  log.close();
  const read = () => readFileSync(join(directory, "a_b.log"), "utf8");
  await expect.poll(read).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z warning: busy\n$/);
  expect(shown).toEqual(["warning: busy"]);
});

it("writes sandbox commands with their rollout to a separate log", async () => {
  const end = logSandboxCommands(directory, (error) => {
    throw error;
  });
  const command = { sandbox: "docker abc", program: "python3", ending: "exit 1", seconds: 0.25 };
  const publish = () => channel("nemo-gym:sandbox-command").publish(command);
  const request = {
    path: "/verify",
    rolloutId: undefined,
    body: { _ng_task_index: 3, _ng_rollout_index: 1 },
  };
  new RolloutContext().serve(request, publish);
  publish();
  end();
  publish();
  const read = () => readFileSync(join(directory, "sandbox.log"), "utf8").replace(/^\S+ /gm, "");
  const line = "docker abc: python3: exit 1 after 0.250 s\n";
  await expect.poll(read).toBe(`[3-1] ${line}${line}`);
});
