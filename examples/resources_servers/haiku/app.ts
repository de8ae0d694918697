import { createJudge, defineResourcesServer, judgeConfig, loadPromptText } from "nemo-gym";
import { lastAssistantText } from "nemo-gym/openai";
import { lastLabel } from "nemo-gym/verify";
import { z } from "zod";

const Config = z.object({ ...judgeConfig, judge_votes: z.number().int().positive().default(3) });

export default defineResourcesServer({
  config: Config,
  row: z.object({ topic: z.string() }),
  // A prompt that is missing or asks for something else is found at the start, not in the first rollout.
  start: async (server) => ({
    judge: createJudge(server, server.config, { systemMessage: "You are a strict editor of poetry." }),
    prompt: await loadPromptText(server, "prompt.txt", ["topic", "poem"]),
  }),
  async verify({ config, state: { judge, prompt }, signal, row, response }) {
    const poem = lastAssistantText(response);
    if (poem === "") return { reward: 0, verdicts: [] };
    const { verdict, verdicts } = await judge.vote(
      prompt.render({ topic: row.topic, poem: judge.fit(poem) }),
      {
        votes: config.judge_votes,
        parse: (text) => lastLabel(text, ["[[GOOD]]", "[[BAD]]"]),
        signal,
      },
    );
    return { reward: verdict === "[[GOOD]]" ? 1 : 0, verdicts };
  },
});
