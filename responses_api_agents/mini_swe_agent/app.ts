import { outputText, type ResponseInputItem } from "nemo-gym/openai";
import { chatToResponses } from "../../libraries/swe/agent/conversation.ts";
import { defineSweAgent } from "../../libraries/swe/agent/define-swe-agent.ts";
import { blockTexts } from "./templates.ts";

const ACTION = /```bash\n(.*?)\n```/gs;

/** Each response has one bash block with one command. */
export default defineSweAgent({
  name: "MiniSWEAgent",
  texts: blockTexts,
  protocol: {
    params: {},
    submitsOnFailure: true,
    read: (output) => {
      const actions = Array.from(outputText({ output }).matchAll(ACTION), ([, command = ""]) => command);
      const [command] = actions;
      if (command === undefined || actions.length > 1) return { wrong: { actions }, calls: [] };
      return { actions: [{ command }] };
    },
    answer: (content) => {
      const [item] = chatToResponses([{ role: "user", content }], []);
      return item as ResponseInputItem;
    },
  },
});
