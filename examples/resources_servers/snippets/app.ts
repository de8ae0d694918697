import { defineResourcesServer, HttpError } from "nemo-gym";
import { lastAssistantText } from "nemo-gym/openai";
import { openSandbox, sandboxConfig } from "nemo-gym/sandbox";
import { z } from "zod";

export default defineResourcesServer({
  config: z.object({ ...sandboxConfig, time_limit_s: z.number().positive().default(10) }),
  row: z.object({ expected_output: z.string() }),
  async verify({ row, response, config, server, signal }) {
    const code = /```python\n([\s\S]*?)```/.exec(lastAssistantText(response))?.[1];
    if (code === undefined) return { reward: 0, reason: "no code" };
    const sandbox = await openSandbox(server, { files: { "main.py": code } }, { signal });
    try {
      const result = await sandbox.exec("python3 main.py", { timeoutSeconds: config.time_limit_s, signal });
      // The sandbox failed, not the code: an unknown result must not become a reward.
      if (result.error_type === "sandbox") throw new HttpError(503, `sandbox: ${result.stderr}`);
      const isRight = result.return_code === 0 && result.stdout?.trim() === row.expected_output;
      return { reward: isRight ? 1 : 0, reason: result.error_type ?? "ran", return_code: result.return_code };
    } finally {
      await sandbox.stop();
    }
  },
});
