import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { pyStr } from "nemo-gym/python";
import { stripThinkPairs } from "nemo-gym/verify";
import { z } from "zod";
import { ihevalMetrics } from "./metrics.ts";
import { Row, SeedRow, taskOf } from "./row.ts";
import { scoreAnswer } from "./score.ts";

const shownCharacters = 500;

/** IHEval: instructions of the system, the user and of tools that agree or contradict each other. */
export default defineResourcesServer({
  config: z.object({ accuracy_mode: z.enum(["hierarchy", "hierarchy_sysprompt"]).default("hierarchy") }),
  row: Row,
  seed: SeedRow,
  reverifyMode: "stateless",
  metrics: (config) => ihevalMetrics(config.accuracy_mode),
  // ROUGE and language detection of long answers would block the event loop for too long.
  verifyIn: "pool",
  verify({ row, response }) {
    const { id, task, domain, setting, answer } = taskOf(row);
    const written = outputText(response);
    const text = written.includes("</think>") ? stripThinkPairs(written) : written;
    return {
      ...scoreAnswer(task, setting, answer, text),
      task,
      setting,
      domain,
      row_id: pyStr(id),
      generation: [...text.slice(0, 2 * shownCharacters)].slice(0, shownCharacters).join(""),
    };
  },
});
