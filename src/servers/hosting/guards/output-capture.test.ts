import { expect, it, onTestFinished } from "vitest";
import { captureOutput } from "./output-capture.ts";

it("captures whole lines with the name of the running server until it ends", () => {
  const passed: unknown[] = [];
  const real = process.stdout.write;
  process.stdout.write = ((chunk: unknown) => passed.push(chunk) > 0) as typeof process.stdout.write;
  onTestFinished(() => {
    process.stdout.write = real;
  });
  const own = process.stdout.write.bind(process.stdout);
  const lines: string[] = [];
  let running = "my_server";
  const end = captureOutput(
    () => running,
    (server, line, stream) => lines.push(`${server} ${stream}: ${line}`),
  );
  process.stdout.write("one\nt");
  process.stdout.write(Buffer.from("wo \u00e9\n"), () => {});
  process.stderr.write("bad\n");
  running = "other";
  process.stdout.write("no end");
  own("ours\n");
  end();
  process.stdout.write("later\n");
  expect(lines).toEqual([
    "my_server stdout: one",
    "my_server stdout: two é",
    "my_server stderr: bad",
    "other stdout: no end",
  ]);
  expect(passed).toEqual(["ours\n", "later\n"]);
});
