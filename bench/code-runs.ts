/** Starts Python repeatedly, bare or in an open sandbox; `code.bench.ts` measures the cost. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BubblewrapProvider } from "../src/sandbox/providers/bubblewrap/provider.ts";
import { Sandbox } from "../src/sandbox/sandbox.ts";

const [kind, count] = process.argv.slice(2);
// Both modes have one, so that its cost cancels out.
const sandbox = await new Sandbox(new BubblewrapProvider(), {}).start();
for (let run = 0; run < Number(count); run++) {
  if (kind === "bare") await promisify(execFile)("/usr/bin/python3", ["-c", "pass"]);
  else await sandbox.exec("python3 -c pass");
}
await sandbox.stop();
