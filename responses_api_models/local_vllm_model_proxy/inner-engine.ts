import { errorMessage, GymError, type ServerContext, sleep } from "nemo-gym";
import { z } from "zod";

const POLL_EVERY_MS = 1_000;
const REPORT_EVERY_MS = 30_000;
const POLL_TIMEOUT_MS = 5_000;

const InnerEngine = z.looseObject({
  base_url: z.union([z.string(), z.array(z.string())]),
  api_key: z.string().nullish(),
  model: z.string(),
});

/** Waits for a server with an engine, and asks for the address of the engine. */
export async function innerEngine(
  server: ServerContext<unknown>,
  name: string,
  timeoutMs: number | null,
): Promise<z.output<typeof InnerEngine>> {
  const started = Date.now();
  let reported = started;
  for (;;) {
    let problem: string;
    try {
      const reply = await server.client.get(name, "/get_inner_vllm_config", {
        timeoutMs: POLL_TIMEOUT_MS,
        idempotent: false,
      });
      if (reply.ok) return InnerEngine.parse(reply.json());
      if (reply.status === 404)
        throw new GymError("VLLM_ENGINE", `Server '${name}' has no vLLM engine of its own.`);
      problem = `it answers ${reply.status}`;
    } catch (error) {
      if (error instanceof GymError && error.code !== "SERVER_CALL") throw error;
      problem = errorMessage(error);
    }
    const now = Date.now();
    if (timeoutMs !== null && now - started > timeoutMs) {
      throw new GymError(
        "VLLM_ENGINE",
        `Server '${name}' was not ready within ${timeoutMs / 1000} s: ${problem}`,
      );
    }
    if (now - reported > REPORT_EVERY_MS) {
      reported = now;
      server.log.info(`waiting for the engine of '${name}': ${problem}`);
    }
    await sleep(POLL_EVERY_MS);
  }
}
