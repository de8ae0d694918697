import {
  callLimits,
  callModel,
  defineAgent,
  EmptyTurns,
  inputItems,
  isObserved,
  loopAgentConfig,
  mergeCookies,
  runToolCall,
  TrajectoryRecorder,
} from "nemo-gym";
import { accumulateUsage, type Response, type ResponseOutputItem, type Usage } from "nemo-gym/openai";
import { wantsAnotherTurn } from "./turns.ts";

/** The loop everything else imitates: ask the model, run its tool calls in order, until it answers. */
export default defineAgent({
  name: "SimpleAgent",
  config: loopAgentConfig,
  async responses({ params, cookies, config, server, rollout, signal }) {
    const { client, globalConfig } = server;
    // A trajectory is told only of a rollout that can be named.
    const recorder = isObserved(globalConfig) && rollout.prefix !== "" ? new TrajectoryRecorder() : undefined;
    const modelServer = config.model_server.name;
    const limits = callLimits(globalConfig);
    const tools = {
      client,
      resourcesServer: config.resources_server.name,
      rollout,
      signal,
      timeoutMs: limits.toolCallMs,
      recorder,
    };
    const input = inputItems(params);
    const produced: ResponseOutputItem[] = [];
    let usage: Usage | null = null;
    let resourceCookies = cookies;
    let modelCookies: typeof cookies | undefined;
    let last: Response;
    let status: "completed" | "incomplete" = "completed";
    const emptyTurns = new EmptyTurns(config.max_empty_turns);
    let gaveUp = false;
    for (let step = 1; ; step++) {
      const startedAt = Date.now();
      const question = input.concat(produced);
      const turn = await callModel(client, {
        modelServer,
        params: { ...params, input: question },
        rollout,
        signal,
        timeoutMs: limits.modelCallMs,
        // Replaying the model server's cookie keeps a conversation on one replica.
        ...(modelCookies && { cookies: modelCookies }),
      });
      last = turn.response;
      modelCookies = turn.cookies;
      const { output } = last;
      produced.push(...output);
      usage = accumulateUsage(usage, last.usage);
      recorder?.modelTurn({ startedAt, question, output, responseId: last.id, modelServer });
      // A truncated turn may hold half a call: nothing of it is run.
      if (last.incomplete_details) {
        status = "incomplete";
        break;
      }
      const calls = output.filter((item) => item.type === "function_call");
      if (!wantsAnotherTurn(output, calls.length)) break;
      gaveUp = emptyTurns.isOver(output);
      if (gaveUp) {
        status = "incomplete";
        server.log.warn(emptyTurns.note);
        break;
      }
      for (const call of calls) {
        const done = await runToolCall(call, resourceCookies, tools);
        resourceCookies = done.cookies;
        produced.push(done.output);
      }
      if (config.max_steps && step >= config.max_steps) {
        status = "incomplete";
        break;
      }
    }
    let response: Response & Record<string, unknown> = { ...last, output: produced, usage };
    if (gaveUp) response = emptyTurns.ended(response);
    if (recorder) response["_ng_trajectory"] = recorder.finish(response, input, status);
    return { response, cookies: mergeCookies(resourceCookies, modelCookies ?? {}) };
  },
});
