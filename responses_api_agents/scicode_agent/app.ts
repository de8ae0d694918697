import { readFile } from "node:fs/promises";
import { compilePrompt, defineAgent, errorMessage, loadPromptYaml } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  callModel,
  modelServerRef,
  resourcesServerRef,
  verifyRollout,
} from "nemo-gym/agents";
import {
  laxBool,
  materializeCreateParams,
  materializeResponse,
  outputText,
  type Response,
} from "nemo-gym/openai";
import { z } from "zod";
import { codeOf, isTooLong, promptParts } from "./steps.ts";

const OUT_OF_CONTEXT = "_ran_out_of_context_";
const FIELDS = ["problem_steps_str", "next_step_str", "dependencies"];

const Row = z.looseObject({
  problem_id: z.string(),
  required_dependencies: z.string().default(""),
  sub_steps: z.array(
    z.looseObject({
      step_description_prompt: z.string(),
      step_background: z.string().default(""),
      function_header: z.string(),
      return_line: z.string(),
    }),
  ),
});

/** Writes a program step by step: each step is asked for with the code of the earlier ones. */
export default defineAgent({
  name: "ScicodeAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    /** A YAML file whose `user` has `{problem_steps_str}`, `{next_step_str}` and `{dependencies}`. */
    prompt_fpath: z.string().default("prompts/step.yaml"),
    /** The prompt itself; wins over the file. */
    prompt: z.string().nullish(),
    /** Whether prompts contain the scientific background of the steps. */
    with_background: laxBool().default(true),
    /** A JSON object of steps that the benchmark solves itself: `<problem>.<step>` to code. */
    prefilled_steps_fpath: z.string().nullish(),
  }),
  async start(server) {
    const { prompt, prompt_fpath, prefilled_steps_fpath: file } = server.config;
    return {
      prompt: prompt
        ? compilePrompt(prompt, { source: "prompt", fields: FIELDS })
        : (await loadPromptYaml(server, prompt_fpath, FIELDS)).user,
      prefilled: file
        ? z.record(z.string(), z.string()).parse(JSON.parse(await readFile(server.findFile(file), "utf8")))
        : {},
    };
  },
  async responses({ params, cookies, config, server, rollout, signal }) {
    const { response } = await callModel(server.client, {
      modelServer: config.model_server.name,
      params,
      rollout,
      signal,
      timeoutMs: callLimits(server.globalConfig).modelCallMs,
    });
    return { response: { ...response }, cookies };
  },
  async run(args) {
    const { params, config, state, cookies, respond } = args;
    const row = Row.parse(args.row);
    const solutions: Record<string, string> = {};
    const codes: (string | null)[] = [];
    let last: Response | undefined;
    let isFull = false;
    for (const [index] of row.sub_steps.entries()) {
      const name = `${row.problem_id}.${index + 1}`;
      const prefilled = state.prefilled[name];
      if (prefilled !== undefined) {
        codes.push(prefilled);
        continue;
      }
      if (isFull) {
        solutions[name] = OUT_OF_CONTEXT;
        continue;
      }
      const parts = promptParts(row.sub_steps, index, { codes, withBackground: config.with_background });
      const content = state.prompt.render({ ...parts, dependencies: row.required_dependencies });
      try {
        last = (await respond({ input: [{ role: "user", content, type: "message" }] }, cookies))
          .response as Response;
      } catch (error) {
        if (!isTooLong(errorMessage(error))) throw error;
        isFull = true;
        solutions[name] = OUT_OF_CONTEXT;
        continue;
      }
      const code = codeOf(outputText(last));
      const earlier = codes.map((each) => `${each}\n`).join("");
      solutions[name] = `${row.required_dependencies}\n${earlier}\n${code}`;
      codes.push(code);
    }
    const verified = await verifyRollout(args, {
      ...args.row,
      responses_create_params: materializeCreateParams(params),
      response: materializeResponse(last ?? emptyResponse()),
      solutions,
    });
    return verified.json() as Record<string, unknown>;
  },
});

/** For a problem whose steps are all given. */
function emptyResponse(): Response {
  return {
    id: "resp_empty",
    created_at: 0,
    model: "none",
    object: "response",
    output: [],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
  } as unknown as Response;
}
