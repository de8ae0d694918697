import { Deadline, GymError } from "nemo-gym";
import { request } from "undici";
import { z } from "zod";

const Output = z.looseObject({ process_status: z.string(), stdout: z.string(), stderr: z.string() });
/** What the compiler said. */
export type LeanOutput = z.output<typeof Output>;

/** Compiles a program; the reply is checked by `readOutput`. */
export type LeanService = (code: string, timeoutSeconds: number, signal: AbortSignal) => Promise<unknown>;

const EXTRA_SECONDS = 5;
const MAX_QUOTED = 300;

/** The Lean service cannot be reached, or did not answer as expected. */
export class LeanServiceError extends GymError {
  constructor(message: string) {
    super("LEAN_SERVICE_FAILED", message);
  }
}

export function readOutput(reply: unknown): LeanOutput {
  const parsed = Output.safeParse(reply);
  if (parsed.success) return parsed.data;
  const quoted = JSON.stringify(reply)?.slice(0, MAX_QUOTED);
  throw new LeanServiceError(
    `The Lean service must answer with process_status, stdout and stderr, not ${quoted}.`,
  );
}

/** `POST /execute` of a NeMo Skills sandbox with Lean 4. */
export function leanService(url: string, maxOutputCharacters: number): LeanService {
  return async (generated_code, timeout, signal) => {
    const deadline = new Deadline((timeout + EXTRA_SECONDS) * 1000, signal);
    const body = { generated_code, language: "lean4", timeout, max_output_characters: maxOutputCharacters };
    try {
      const reply = await request(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: deadline.signal,
      });
      const text = await reply.body.text();
      if (reply.statusCode >= 400)
        throw new LeanServiceError(`${reply.statusCode} from ${url}: ${text.slice(0, MAX_QUOTED)}`);
      return jsonOf(text);
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.signal.aborted) return { process_status: "timeout", stdout: "", stderr: "" };
      if (error instanceof LeanServiceError) throw error;
      throw new LeanServiceError(`${url}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      deadline.clear();
    }
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
