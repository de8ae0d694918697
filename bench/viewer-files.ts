import { once } from "node:events";
import { createWriteStream } from "node:fs";

const PIECE = 1 << 20;

/** Writes lines until `enough` returns true; returns their number. */
async function writeLines(
  file: string,
  line: (row: number) => string,
  enough: (rows: number, bytes: number) => boolean,
): Promise<number> {
  const out = createWriteStream(file);
  let [rows, bytes, piece] = [0, 0, ""];
  for (; !enough(rows, bytes); rows++) {
    const text = line(rows);
    bytes += text.length;
    piece += text;
    if (piece.length < PIECE) continue;
    if (!out.write(piece)) await once(out, "drain");
    piece = "";
  }
  out.end(piece);
  await once(out, "finish");
  return rows;
}

const words = (length: number) =>
  'the model "calls" a tool, reads\nits output and counts '.repeat(length / 50);
const ids = (length: number, seed: number) =>
  Array.from({ length }, (_, place) => (place * 7919 + seed) % 150_000);

/** Writes rollouts with tool calls, more than half of them with token ids, until the file has this many bytes. */
export function writeRollouts(file: string, bytes: number): Promise<number> {
  return writeLines(
    file,
    (row) => `${JSON.stringify(toolRollout(row))}\n`,
    (_, written) => written >= bytes,
  );
}

/** Rollouts of a question and an answer, 870 bytes each. */
export function writeShortRollouts(file: string, count: number): Promise<number> {
  return writeLines(file, shortRollout, (rows) => rows >= count);
}

/** The line of such a rollout. */
export function shortRollout(row: number): string {
  return `${JSON.stringify(rollout(row, [message(400)], 50))}\n`;
}

/** Writes one rollout of this many bytes: three hundred turns with their token ids. */
export function writeLargeRollout(file: string, bytes: number): Promise<number> {
  const turns = 300;
  const share = bytes / turns;
  const turn = (place: number) => [
    { type: "function_call", name: "python", call_id: String(place), arguments: "{}" },
    { type: "function_call_output", call_id: String(place), output: words(share / 2) },
    { ...message(500), prompt_token_ids: ids(Math.floor(share / 2 / 7), place) },
  ];
  const row = rollout(0, Array.from({ length: turns }, (_, place) => turn(place)).flat(), 50);
  return writeLines(
    file,
    () => `${JSON.stringify(row)}\n`,
    (rows) => rows >= 1,
  );
}

function toolRollout(row: number) {
  const output = [
    { type: "function_call", name: "python", call_id: "1", arguments: JSON.stringify({ code: words(600) }) },
    { type: "function_call_output", call_id: "1", output: words(2000) },
    {
      ...message(4000),
      ...(row % 5 < 3 && { prompt_token_ids: ids(2000, row), generation_token_ids: ids(800, row) }),
    },
  ];
  return rollout(row, output, 1500);
}

function message(length: number) {
  const content = [{ type: "output_text", annotations: [], text: words(length) }];
  return { type: "message", role: "assistant", content };
}

function rollout(row: number, output: unknown[], question: number) {
  return {
    responses_create_params: { input: [{ role: "user", content: words(question) }] },
    response: { id: `resp_${row}`, model: "m", output, usage: { input_tokens: 10, output_tokens: 20 } },
    reward: row % 2,
    _ng_task_index: Math.floor(row / 8),
    _ng_rollout_index: row % 8,
    agent_ref: { name: "solver" },
  };
}
