/** Starts Python so many times, bare or in an open sandbox; `code.bench.ts` counts what that costs. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BubblewrapProvider } from "../src/sandbox/providers/bubblewrap/provider.ts";
import { Sandbox } from "../src/sandbox/sandbox.ts";

const [kind, count] = process.argv.slice(2);
// Both have one, so that its own cost is in neither.
const sandbox = await new Sandbox(new BubblewrapProvider(), {}).start();
for (let run = 0; run < Number(count); run++) {
  if (kind === "bare") await promisify(execFile)("/usr/bin/python3", ["-c", "pass"]);
  else await sandbox.exec("python3 -c pass");
}
await sandbox.stop();
