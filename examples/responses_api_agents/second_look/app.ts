import { defineAgent, loopAgentConfig, toolLoop } from "nemo-gym";
import { z } from "zod";

/** Asks the model to check its first answer and to answer again. */
export default defineAgent({
  name: "SecondLook",
  config: loopAgentConfig.extend({ question: z.string().default("Check your answer and give it again.") }),
  responses(args) {
    let asked = false;
    return toolLoop(args, {
      answered() {
        if (asked) return undefined;
        asked = true;
        return [{ role: "user", content: args.config.question, type: "message" }];
      },
    });
  },
});
