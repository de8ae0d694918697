import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { Semaphore } from "nemo-gym/agents";
import { sandboxUnavailable } from "nemo-gym/code-runner";
import {
  openSandbox,
  type Sandbox,
  type SandboxExecResult,
  type SandboxServer,
  type SandboxSpecInput,
  sandboxConfig,
  shellQuote,
} from "nemo-gym/sandbox";
import { z } from "zod";
import type { Problem } from "./problems.ts";
import { endingUserProgram, safeFileName, solutionOf } from "./solution.ts";

export const programsConfig = {
  ...sandboxConfig,
  /** Programs that run at a time; null: one per core. */
  max_parallel: z.number().int().positive().nullable().default(null),
  /** For all processes of a test together. */
  memory_mib: z.number().int().positive().default(2048),
};
const schema = z.looseObject(programsConfig);

const COMPILE_SECONDS = 120;
const LEAST_RUN_SECONDS = 30;
const OUTPUT_CHARACTERS = 1000;
/** Competitions accept less. A compiler may need minutes for a megabyte of brackets. */
const MAX_CODE_CHARACTERS = 256 * 1024;
const ARCHIVE = "built.tar";

interface Output {
  stdout: string;
  stderr: string;
}
/** A compiled solution, or the messages of the compiler. */
export type Compiled = Output & { run?: (test: { input: string; output: string }) => Promise<Output> };

/** Compiles a solution once, and runs each test in a sandbox of its own. */
export class Programs {
  readonly #server: SandboxServer;
  readonly #slots: Semaphore;
  readonly #memory: number;

  constructor(server: SandboxServer) {
    const { max_parallel, memory_mib } = schema.parse(server.config ?? {});
    this.#server = server;
    this.#slots = new Semaphore(max_parallel ?? availableParallelism());
    this.#memory = memory_mib;
  }

  /** Calls `use` with the compiled solution. Its files are removed afterwards. */
  async withCompiled<T>(
    task: { id: string; problem: Problem; answer: string; timeScale: number },
    { key, signal }: { key: string; signal: AbortSignal },
    use: (compiled: Compiled) => Promise<T>,
  ): Promise<T> {
    const { id, problem, answer, timeScale } = task;
    const solution = solutionOf(answer, problem, id);
    if (solution.code.length > MAX_CODE_CHARACTERS)
      return use({ stdout: "", stderr: `The solution has more than ${MAX_CODE_CHARACTERS} characters.` });
    const directory = await mkdtemp(path.join(tmpdir(), "nemo-gym-solution-"));
    const archive = path.join(directory, ARCHIVE);
    const inSlot = (spec: SandboxSpecInput, run: (sandbox: Sandbox) => Promise<Output>) =>
      this.#slots.run(
        () => this.#withSandbox({ ...spec, metadata: { problem: safeFileName(id) } }, run, signal),
        signal,
        key,
      );
    const files = {
      ...Object.fromEntries(problem.grader_files ?? []),
      "compile.sh": problem.compile,
      "run.sh": endingUserProgram(problem.run),
      [solution.file]: solution.code,
    };
    try {
      // Without input and expected output: a solution must not include them while it is compiled.
      const compiled = await inSlot({ files: inFolder(files) }, async (sandbox) => {
        const built = await exec(
          sandbox,
          "mkdir -p task/graders task/tmp && cd task && chmod 755 compile.sh run.sh && exec ./compile.sh",
          COMPILE_SECONDS,
          signal,
        );
        if (built.stderr !== "") return built;
        const packed = await exec(sandbox, `tar -C task -cf ${ARCHIVE} .`, COMPILE_SECONDS, signal);
        if (packed.stderr !== "") throw sandboxUnavailable(new Error(packed.stderr));
        await sandbox.download(ARCHIVE, archive, { signal });
        return built;
      });
      if (compiled.stderr !== "") return await use(compiled);
      const seconds = Math.max(LEAST_RUN_SECONDS, LEAST_RUN_SECONDS * timeScale);
      const command = `mkdir task && cd task && tar -xf ../${ARCHIVE} && base64 -d ../input > input.txt && base64 -d ../output > correct_output.txt && TMPDIR="$PWD/tmp" TIME_LIMIT_SCALE=${shellQuote(String(timeScale))} exec ./run.sh`;
      return await use({
        ...compiled,
        run: ({ input, output }) =>
          inSlot({ files: { input: latin1(input), output: latin1(output) } }, async (sandbox) => {
            await sandbox.upload(archive, ARCHIVE, { signal });
            return exec(sandbox, command, seconds, signal);
          }),
      });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  async #withSandbox(
    spec: SandboxSpecInput,
    run: (sandbox: Sandbox) => Promise<Output>,
    signal: AbortSignal,
  ): Promise<Output> {
    let sandbox: Sandbox | undefined;
    try {
      sandbox = await openSandbox(
        this.#server,
        { resources: { memory_mib: this.#memory }, ...spec },
        { signal },
      );
      return await run(sandbox);
    } catch (error) {
      signal.throwIfAborted();
      throw sandboxUnavailable(error);
    } finally {
      await sandbox?.stop();
    }
  }
}

const inFolder = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`task/${name}`, text]));

const latin1 = (text: string) => Buffer.from(text, "latin1").toString("base64");

async function exec(
  sandbox: Sandbox,
  command: string,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<Output> {
  const result = await sandbox.exec(command, { timeoutSeconds, signal });
  if (result.error_type === "sandbox") throw new Error(result.stderr ?? "");
  return outputOf(result);
}

/** What exceeds a limit has no output that could be a score. */
function outputOf({ stdout, stderr, error_type }: SandboxExecResult): Output {
  if (error_type !== null) return { stdout: "", stderr: stderr || `The program was ended: ${error_type}.` };
  return { stdout: cut(stdout), stderr: cut(stderr) };
}

const cut = (text: string | null) => (text ?? "").slice(0, OUTPUT_CHARACTERS);
