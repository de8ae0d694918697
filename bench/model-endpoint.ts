import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** The constant responses of the endpoint. */
export interface EndpointAnswers {
  response: object;
  /** Sent instead of the response until there is a tool output. */
  toolCall?: object;
  /** Sent for other requests. */
  completion?: object;
}

/** Starts a model API on this machine, passes its address to `use`, and stops it. */
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
