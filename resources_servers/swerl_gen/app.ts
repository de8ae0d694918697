import { allAssistantText, defineResourcesServer, HttpError, type JsonObject } from "nemo-gym";
import { laxBool, laxFloat } from "nemo-gym/openai";
import { dumps } from "nemo-gym/python";
import { z } from "zod";
import { workspaceConfig } from "../../libraries/swe/workspace.ts";
import { patchOf, readEdits, reproductionPatch, solutionOf } from "./edits.ts";
import { type RunInSandbox, runInSandbox, type SandboxTask } from "./run-in-sandbox.ts";

const Config = z.object({
  ...workspaceConfig,
  sandbox_timeout: laxFloat().default(600),
  /** Whether the solution may be outside of `<solution>` tags. */
  relaxed_formatting: laxBool().default(false),
  /** Keys of the original without effect: the sandbox provider limits the sandboxes, and the log has their errors. */
  num_processes: z.unknown().optional(),
  debug: z.unknown().optional(),
});

const Row = z.object({
  instance: z.record(z.string(), z.unknown()),
  metadata: z.record(z.string(), z.unknown()),
  mode: z.string().default("eval"),
});
type Row = z.output<typeof Row>;

type Attempt = Pick<SandboxTask, "patch" | "testPatch" | "mode"> & { info: string | null };

/** Repairs in one answer: search-and-replace edits that must make tests pass, or a script that must reproduce the bug. */
export function defineSwerlGen(run: RunInSandbox) {
  return defineResourcesServer({
    config: Config,
    row: Row,
    echo: [],
    reverifyMode: "stateless",
    async verify({ config, row, response, server, signal }) {
      const text = allAssistantText(response);
      const nothing = {
        reward: 0,
        ...{ verification_result: null, verification_time: null, model_patch: null },
        ...{ repro_test_info_base64: null, model_output: text === "" ? null : text },
      };
      if (text === "") return nothing;
      const attempt = attemptOf(text, row, config.relaxed_formatting);
      if (attempt === undefined) return nothing;
      const { image } = row.metadata;
      if (typeof image !== "string") throw new HttpError(422, "The row has no metadata.image to run in.");
      const { info, ...task } = attempt;
      const started = performance.now();
      const { reward, verification_result } = await run(
        { ...task, instance: row.instance, image, timeoutSeconds: config.sandbox_timeout, signal },
        server,
      );
      return {
        ...nothing,
        reward,
        verification_result,
        verification_time: (performance.now() - started) / 1000,
        model_patch: attempt.patch,
        repro_test_info_base64: info,
      };
    },
  });
}

export default defineSwerlGen(runInSandbox);

function attemptOf(text: string, row: Row, relaxed: boolean): Attempt | undefined {
  if (row.mode === "eval") {
    const solution = solutionOf(text, relaxed);
    const files = filesOf(row);
    if (solution === undefined || files === undefined) return undefined;
    const patch = patchOf(readEdits(solution), files, row.metadata["remove_repo_name"] === true);
    return patch === undefined ? undefined : { mode: "eval", patch, testPatch: null, info: null };
  }
  if (row.mode !== "repro-gen")
    throw new HttpError(422, `The mode '${row.mode}' is unknown; there are 'eval' and 'repro-gen'.`);
  const { instance_id, patch } = row.instance;
  const testPatch = reproductionPatch(text);
  if (testPatch === undefined || instance_id === undefined) return undefined;
  if (typeof patch !== "string")
    throw new HttpError(422, "The row has no instance.patch, the reference solution.");
  const info = Buffer.from(dumps({ instance_id, test_patch: [testPatch] })).toString("base64");
  return { mode: "repro-gen", patch, testPatch, info };
}

/** The files to edit, from the row: path to content, as JSON text. */
function filesOf({ metadata }: Row): JsonObject | undefined {
  try {
    const files: unknown = JSON.parse(String(metadata["relevant_file_contents"]));
    return typeof files === "object" && files !== null ? (files as JsonObject) : undefined;
  } catch {
    // Scored as in the original: there is no file to edit.
    return undefined;
  }
}
