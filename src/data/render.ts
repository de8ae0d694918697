import { errorMessage } from "../base/errors.ts";
import { PositionRanges } from "../base/files/door.ts";
import { copyWith, dumps } from "../base/python/json/door.ts";
import { DatasetError } from "./errors.ts";
import { parseExactRow, readTextLines } from "./lines.ts";
import { assertNotOverwritingSources, writeOutput } from "./output-file.ts";
import { applyPromptConfig, hasPopulatedInput, loadPromptConfig } from "./prompt-config.ts";

export interface RenderOptions {
  input: string;
  /** The path of the prompt config file. */
  promptConfig: string;
  output: string;
  /** Messages show the output relative to this folder. Default: the working directory. */
  cwd?: string;
  signal?: AbortSignal;
}

/**
 * Writes each row of `input` with the messages of the prompt config, and the path of that config as `prompt_config_used`.
 * Returns the number of rows. Nothing is written if a row already has an input.
 */
export async function renderDataset(options: RenderOptions): Promise<number> {
  const { input, promptConfig, output: target } = options;
  const sources = [
    { file: input, description: "the input itself" },
    { file: promptConfig, description: "the prompt config" },
  ];
  assertNotOverwritingSources(sources, [target], {
    cwd: options.cwd ?? process.cwd(),
    advice: "Choose another output file.",
  });
  const prompt = await loadPromptConfig(promptConfig);
  await rejectPopulated(options);
  return writeOutput(target, { atomic: true }, async (output) => {
    let rows = 0;
    for await (const line of readTextLines(input, options.signal)) {
      rows++;
      const where = `${input}:${rows}`;
      const row = parseExactRow(line, where);
      try {
        const rendered = copyWith(applyPromptConfig(prompt, row), { prompt_config_used: prompt.path });
        await output.write(`${dumps(rendered)}\n`);
      } catch (error) {
        throw new DatasetError("DATASET_ROW_INVALID", `${where}: ${errorMessage(error)}`, { cause: error });
      }
    }
    return rows;
  });
}

async function rejectPopulated({ input, promptConfig, signal }: RenderOptions): Promise<void> {
  const lines = new PositionRanges();
  let line = 0;
  for await (const text of readTextLines(input, signal)) {
    line++;
    if (!hasPopulatedInput(parseExactRow(text, `${input}:${line}`))) continue;
    lines.add(line, 1);
  }
  if (lines.count === 0) return;
  throw new DatasetError(
    "DATASET_PROMPT_CONFLICT",
    `${lines.count} rows of '${input}' already have responses_create_params.input, which the prompt config ` +
      `'${promptConfig}' would fill: lines ${lines.text()}.`,
  );
}
