import { PyRandom } from "nemo-gym/python";
import type { Generator, Level } from "./generator.ts";

const INSTRUCTIONS =
  "Solve the task. Think as long as you need, then give your final answer, and nothing else, between <answer> and </answer>.";

export interface Row {
  responses_create_params: { input: { role: string; content: string }[] };
  question: string;
  answer: string;
  metadata: Readonly<Record<string, unknown>> & { source_dataset: string; source_index: number };
}

/** A number derived from a text, so that every kind of task draws from its own sequence. */
function numberOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const character of text)
    hash = ((hash ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash;
}

/** One dataset row; the same generator, seed, index and level produce the same row. */
export function makeRow(generator: Generator, seed: number, index: number, level: Level): Row {
  const random = new PyRandom(
    (BigInt(seed) << 96n) + (BigInt(index) << 64n) + numberOf(`${generator.task}/${level}`),
  );
  const { question, metadata } = generator.draw(random, level);
  return {
    responses_create_params: {
      input: [
        { role: "system", content: INSTRUCTIONS },
        { role: "user", content: question },
      ],
    },
    question,
    answer: generator.solve(metadata),
    metadata: { source_dataset: generator.task, source_index: index, ...metadata, difficulty: { level } },
  };
}
