import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { captureOutput } from "./output-capture.ts";

function serverCode(text: string): { directory: string; run: (write: typeof process.stdout.write) => void } {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "gym-output-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "code.cjs"), text);
  return { directory, run: createRequire(import.meta.url)(join(directory, "code.cjs")).run };
}

it("takes lines of servers and leaves what others write", () => {
  const passed: unknown[] = [];
  const real = process.stdout.write;
  process.stdout.write = ((chunk: unknown) => passed.push(chunk) > 0) as typeof process.stdout.write;
  onTestFinished(() => {
    process.stdout.write = real;
  });
  const { directory, run } = serverCode(
    `exports.run = (log) => {
       process.stdout.write("one\\nt");
       process.stdout.write(Buffer.from("wo \\u00e9\\n"), () => {});
       process.stderr.write("bad\\n");
       process.stdout.write("no end");
       log();
     };`,
  );
  const lines: string[] = [];
  const end = captureOutput([{ server: "my_server", directories: [directory] }], (server, line, stream) =>
    lines.push(`${server} ${stream}: ${line}`),
  );
  // Code of ours that a server calls writes for itself.
  run((() => process.stdout.write("ours\n")) as never);
  process.stdout.write("theirs\n");
  end();
  expect(lines).toEqual([
    "my_server stdout: one",
    "my_server stdout: two é",
    "my_server stderr: bad",
    "my_server stdout: no end",
  ]);
  process.stdout.write("later\n");
  expect(passed).toEqual(["ours\n", "theirs\n", "later\n"]);
});
