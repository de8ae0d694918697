import { defineAgent, HttpError, type JsonObject } from "nemo-gym";
import {
  agentConfig,
  modelServerRef,
  resourcesServerRef,
  Semaphore,
  type StandardRunArgs,
  standardRun,
  TrajectoryRecorder,
} from "nemo-gym/agents";
import {
  laxBool,
  laxFloat,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  newId,
  type Response,
  type ResponseInputItem,
} from "nemo-gym/openai";
import { z } from "zod";
import { gradePatch } from "../grade-patch.ts";
import { readInstance } from "../instance.ts";
import { rewardOf } from "../report.ts";
import { Workspaces, workspaceConfig } from "../workspace.ts";
import { ResultFiles } from "./result-files.ts";
import { firstMessages, type LoopResult, runLoop, type ShellProtocol } from "./shell-loop.ts";
import { Templates, type TemplateTexts, templatesConfig } from "./templates.ts";

const configFields = {
  ...workspaceConfig,
  model_server: modelServerRef,
  /** Server that grades patches; without one the agent grades them itself. */
  resources_server: resourcesServerRef.nullish(),
  concurrency: laxInt().default(16),
  step_limit: laxInt().default(250),
  cost_limit: laxFloat().default(0),
  step_timeout: laxFloat().default(600),
  eval_timeout: laxFloat().default(1800),
  run_timeout: laxFloat().nullable().default(null),
  max_output_chars: laxInt().default(10_000),
  collapse_limit: laxInt().default(3),
  /** Submits the reference solution instead of calling the model, to check instances and their images. */
  run_golden: laxBool().default(false),
  /** Reads the result of an instance from `results_dir` if it exists, and writes it there otherwise. */
  skip_if_exists: laxBool().default(false),
  results_dir: z.string().default("results"),
};

export interface SweAgent {
  name: string;
  protocol: ShellProtocol;
  texts: TemplateTexts;
}

/** An agent for software engineering tasks with only a shell: it runs commands until the model submits its patch. */
export function defineSweAgent({ name, protocol, texts }: SweAgent) {
  return defineAgent({
    name,
    config: agentConfig.extend({ ...configFields, templates: templatesConfig(texts) }),
    start: (server) => ({
      slots: new Semaphore(server.config.concurrency),
      workspaces: new Workspaces(server),
      templates: new Templates(server.config.templates),
      results: new ResultFiles(server.config.results_dir),
    }),

    async responses() {
      throw new HttpError(501, "This agent runs whole instances: post a row to /run.");
    },

    async run({ row, params: given, cookies, config, server, rollout, signal, state }) {
      const instance = readInstance(row);
      const { workspaces, templates } = state;
      const modelName = String(server.globalConfig["policy_model_name"] ?? config.model_server.name);
      const params = {
        ...given,
        ...protocol.params,
        input: firstMessages(templates, instance.problem_statement),
      };
      const recorder = TrajectoryRecorder.of(server.globalConfig, rollout);

      const solve = async (): Promise<LoopResult> => {
        if (config.run_golden)
          return { exit_status: "Submitted", patch: instance.patch, output: [], usage: null, steps: 0 };
        rollout.onStage("tool", "sandbox");
        const workspace = await workspaces.open(instance, signal);
        try {
          const modelServer = config.model_server.name;
          return await runLoop({
            protocol,
            server,
            modelServer,
            templates,
            limits: config,
            workspace,
            params,
            rollout,
            recorder,
            signal,
          });
        } finally {
          await workspace.close();
        }
      };
      const respond: StandardRunArgs["respond"] = async (_params, own) => {
        const solved = await solve();
        const response = toResponse(solved, modelName, params) as Response & JsonObject;
        if (recorder) {
          const status = solved.exit_status === "Submitted" ? "completed" : "incomplete";
          response["_ng_trajectory"] = recorder.finish(response, params.input as ResponseInputItem[], status);
        }
        return { response, cookies: own };
      };
      const gradeHere = async (): Promise<JsonObject> => {
        const { response } = await respond(params, cookies);
        const { _ng_trajectory: _, ...answered } = response;
        rollout.onStage("verify");
        const patch = (response.metadata as JsonObject | null)?.["model_patch"] as string | undefined;
        const timeoutSeconds = config.eval_timeout;
        const { log: __, ...metadata } = await gradePatch(workspaces, instance, patch, {
          timeoutSeconds,
          signal,
        });
        return {
          responses_create_params: materializeCreateParams(params),
          response: materializeResponse(answered as unknown as Response),
          reward: rewardOf(metadata, instance.instance_id),
          instance_id: instance.instance_id,
          metadata: { ...metadata },
        };
      };

      return state.slots.run(async () => {
        const { resources_server, skip_if_exists } = config;
        if (resources_server != null && !skip_if_exists) {
          const own = { ...config, resources_server };
          return standardRun({ config: own, server, row, params, cookies, rollout, signal, respond });
        }
        const known = skip_if_exists ? await state.results.read(instance, modelName) : undefined;
        if (known !== undefined) return known;
        const result = await gradeHere();
        if (skip_if_exists) await state.results.write(instance, modelName, result);
        return result;
      }, signal);
    },
  });
}

/** The patch is stored in `metadata`, so that a stored rollout can be graded again. */
function toResponse(
  solved: LoopResult,
  model: string,
  params: { temperature?: number | null; top_p?: number | null },
): Response {
  const { exit_status, patch, output, usage, steps } = solved;
  return {
    id: newId("resp"),
    created_at: Math.floor(Date.now() / 1000),
    model,
    object: "response",
    output,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    temperature: params.temperature ?? null,
    top_p: params.top_p ?? null,
    usage,
    status: exit_status === "Submitted" ? "completed" : "incomplete",
    metadata: { exit_status, steps: String(steps), ...(patch !== null && { model_patch: patch }) },
  };
}
