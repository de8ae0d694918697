import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A program like `vllm serve` without a GPU: it prints, listens, answers, and exits if the prompt contains "die now". */
const PROGRAM = `#!/usr/bin/env node
const { createServer } = require("node:http");
const { spawn } = require("node:child_process");
const args = process.argv.slice(2);
const model = args[1];
const port = Number(args[args.indexOf("--port") + 1]);
console.log("engine args: " + JSON.stringify(args));
console.error("token in use: " + process.env.HF_TOKEN);
// After an exit several starts may fail, because GPU memory is not free at once.
const fs = require("node:fs");
const hasDied = fs.existsSync(__filename + ".died");
const crashes = __filename + ".crashes";
if (hasDied && Number(process.env.FAKE_VLLM_CRASHES) > (fs.existsSync(crashes) ? fs.statSync(crashes).size : 0)) {
  fs.appendFileSync(crashes, "x");
  process.env.FAKE_VLLM = "crash";
}
if (process.env.FAKE_VLLM === "crash") {
  console.error("torch.OutOfMemoryError: CUDA out of memory.");
  process.exit(3);
}
if (process.env.FAKE_VLLM_PIDS) {
  // A worker of the engine, which must be stopped too.
  const worker = spawn("sleep", ["300"]);
  fs.appendFileSync(process.env.FAKE_VLLM_PIDS, process.pid + "\\n" + worker.pid + "\\n");
}
// Only once, because the call is retried.
function dies() {
  try {
    fs.mkdirSync(__filename + ".died");
    return true;
  } catch {
    return false;
  }
}
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (chunk) => { text += chunk; });
  request.on("end", () => {
    response.setHeader("content-type", "application/json");
    if (request.url === "/v1/models") return response.end(JSON.stringify({ object: "list", data: [{ id: model }] }));
    const body = JSON.parse(text);
    const asked = JSON.stringify(body.messages);
    if (asked.includes("die now") && dies()) process.exit(1);
    const message = { role: "assistant", content: asked };
    response.end(JSON.stringify({
      id: "c", object: "chat.completion", created: 1, model, usage: null,
      choices: [{ index: 0, finish_reason: "stop", message }],
    }));
  });
});
if (process.env.FAKE_VLLM !== "silent") setTimeout(() => server.listen(port, "127.0.0.1"), Number(process.env.FAKE_VLLM_START_MS ?? 200));
else setInterval(() => {}, 1000);
`;

/** Writes the program into a folder and returns its path. */
export async function fakeVllm(folder: string): Promise<string> {
  const file = join(folder, "vllm");
  await writeFile(file, PROGRAM);
  await chmod(file, 0o755);
  return file;
}
