import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ServerLog } from "./server-log.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nemo-gym-log-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("takes off the name that Python servers put in front of their lines", async () => {
  const lines: string[] = [];
  const log = new ServerLog({ server: "mcqa", onLine: (line) => lines.push(line), onFileError: () => {} });
  const output = Readable.from(["(mcqa) Started\n(mcqa) (mcqa)", " twice\nplain (mcqa)\n"]);
  log.follow(output, "info");
  await finished(output);
  expect(lines).toEqual(["Started", "(mcqa) twice", "plain (mcqa)"]);
});

it("writes the time in front of each line of the file", async () => {
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
