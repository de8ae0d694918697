import { defineGymnasiumServer } from "nemo-gym";
import { functionCalls, laxBool, laxFloat, outputText } from "nemo-gym/openai";
import { dumps } from "nemo-gym/python";
import { z } from "zod";

const Step = z.looseObject({
  observation: z.string().nullish(),
  reward: laxFloat().nullish(),
  terminated: laxBool().nullish(),
  truncated: laxBool().nullish(),
});

const Row = z.looseObject({
  first_observation: z.string().nullish(),
  script: z.array(Step).default([]),
});

interface Episode {
  isOpen: boolean;
  steps: number;
}

/** Plays the steps of the row, whatever the model answers, and reports what it received: a test of agents. */
export default defineGymnasiumServer({
  row: Row,
  seed: z.looseObject({ script: z.array(Step).min(1) }),
  reset: ({ row, body }) => ({
    session: { isOpen: true, steps: 0 } as Episode,
    observation: row.first_observation ?? null,
    info: { metadata_keys: keysOf(body) },
  }),
  unseeded: (): Episode => ({ isOpen: false, steps: 0 }),
  step({ row, body, response, session }) {
    if (session.isOpen) session.steps++;
    const { observation, reward, terminated, truncated } = row.script[session.steps - 1] ?? {};
    const tool_outputs = functionCalls(response).map(({ call_id, name, arguments: args }) => ({
      call_id,
      output: dumps({ name, args }),
    }));
    return {
      observation: observation ?? null,
      reward: reward ?? 0,
      terminated: terminated ?? false,
      truncated: truncated ?? false,
      info: {
        text: outputText(response),
        had_state: session.isOpen,
        n: session.steps,
        metadata_keys: keysOf(body),
        ...(tool_outputs.length > 0 && { tool_outputs }),
      },
    };
  },
});

/** The names of the fields of the row. */
function keysOf({ responses_create_params: _, response: __, ...row }: Record<string, unknown>): string[] {
  return Object.keys(row).sort();
}
