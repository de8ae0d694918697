import { defineResourcesServer } from "nemo-gym";
import { readLastItem } from "nemo-gym/openai";
import { follows } from "../../libraries/instructions/ifeval/index.ts";
import { Row } from "./row.ts";

export default defineResourcesServer({
  name: "instruction_following",
  row: Row,
  echo: [],
  reverifyMode: "stateless",
  // Language detection and sentence splitting of long answers would block the event loop for too long.
  verifyIn: "pool",
  verify({ row, response }) {
    const { verifier_metadata } = row;
    const { instruction_id_list: ids, kwargs, grading_mode } = verifier_metadata;
    const answer = readLastItem(response);
    // A refusal has no text. Without this check it would satisfy every instruction that forbids something.
    const refused = answer.kind === "refusal";
    const followed = ids
      .slice(0, kwargs.length)
      .map((id, index) => !refused && follows(id, kwargs[index] ?? null, answer.text));
    const all = !refused && followed.every(Boolean);
    const share = followed.length === 0 ? 0 : followed.filter(Boolean).length / followed.length;
    return {
      reward: grading_mode === "fraction" ? share : Number(all),
      follow_all_instructions: all,
      follow_instruction_list: followed,
      verifier_metadata,
    };
  },
});
