import { errorMessage } from "../errors.ts";
import { dumps } from "../python/json/json-dumps.ts";
import { copyWith } from "../python/json/key-order.ts";
import { applyPromptConfig, hasPopulatedInput, loadPromptConfig } from "../rollouts/inputs/prompt-config.ts";
import { DatasetError } from "./errors.ts";
import { readLines, readRow } from "./lines.ts";
import { OutputFile, refuseOverwriting } from "./output-file.ts";
import { PositionRanges } from "./position-ranges.ts";

export interface RenderOptions {
  input: string;
  /** The prompt config file, already looked up. */
  promptConfig: string;
  output: string;
  /** What messages name the output relative to. */
  cwd?: string;
  signal?: AbortSignal;
}

/**
 * Writes each row of `input` with the messages its prompt config makes of it, and the path of that config under
 * `prompt_config_used`; gives the number of rows. Nothing is written when a row has an input already.
 */
export async function renderDataset(options: RenderOptions): Promise<number> {
  const { input, promptConfig, output: target } = options;
  const sources = [
    { file: input, description: "the input itself" },
    { file: promptConfig, description: "the prompt config" },
  ];
  refuseOverwriting(sources, [target], {
    cwd: options.cwd ?? process.cwd(),
    advice: "Choose another output file.",
  });
  const prompt = await loadPromptConfig(promptConfig);
  await refusePopulated(options);
  const output = await OutputFile.create(target, { atomic: true });
  let rows = 0;
  try {
    for await (const line of readLines(input, { signal: options.signal })) {
      rows++;
      const where = `${input}:${rows}`;
      const row = readRow(line, where);
      try {
        const rendered = copyWith(applyPromptConfig(prompt, row), { prompt_config_used: prompt.path });
        await output.write(`${dumps(rendered)}\n`);
      } catch (error) {
        throw new DatasetError("DATASET_ROW_INVALID", `${where}: ${errorMessage(error)}`, { cause: error });
      }
    }
  } catch (error) {
    await output.abandon();
    throw error;
  }
  await output.finish();
  return rows;
}

async function refusePopulated({ input, promptConfig, signal }: RenderOptions): Promise<void> {
  const lines = new PositionRanges();
  let line = 0;
  for await (const text of readLines(input, { signal })) {
    line++;
    if (!hasPopulatedInput(readRow(text, `${input}:${line}`))) continue;
    lines.add(line, 1);
  }
  if (lines.count === 0) return;
  throw new DatasetError(
    "DATASET_PROMPT_CONFLICT",
    `${lines.count} rows of '${input}' already have responses_create_params.input, which the prompt config ` +
      `'${promptConfig}' would fill: lines ${lines.text()}.`,
  );
}
