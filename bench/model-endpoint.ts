import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** What the endpoint says, always the same. */
export interface EndpointAnswers {
  response: object;
  /** Said instead of the response while no tool has answered yet. */
  toolCall?: object;
  /** Said to anybody who does not ask for a response. */
  completion?: object;
}

/** Starts a model API on this machine, gives its address to `use`, and ends it. */
export async function withModelEndpoint<T>(
  answers: EndpointAnswers,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  const program = fileURLToPath(new URL("./model-endpoint-process.js", import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(answers)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    return await use(`http://127.0.0.1:${String(port).trim()}`);
  } finally {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
}
