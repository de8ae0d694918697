import { existsSync } from "node:fs";
import path from "node:path";
import { convertDataset } from "../data/door.ts";
import { hubAccess } from "../data/light-door.ts";
import { preprocessedDirectory, type RunInput } from "./evaluation-input.ts";

/** Rows whose place in the source is remembered for messages. */
const MAX_PLACES = 100_000;

interface ConversionSetting {
  readonly output: string;
  readonly roots: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly get: (key: string) => unknown;
  readonly resume: boolean;
  /** A prompt config makes the inputs. */
  readonly hasPrompt: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onStatus: (text: string) => void;
  readonly onNotice: (text: string) => void;
}

/** Writes the rows of a table, a chat file or a dataset on the hub next to the output. Every row must fit. */
export async function convertedInput(name: string, setting: ConversionSetting): Promise<RunInput> {
  const { output, roots, env, get, resume, hasPrompt, onStatus, onNotice } = setting;
  const directory = preprocessedDirectory(output);
  const file = path.join(directory, "converted.jsonl");
  const places: string[] = [];
  const sourceOf = (line?: number) => (line === undefined ? name : (places[line - 1] ?? name));
  // The hub may have other rows by now; a run goes on with those that it began with.
  if (resume && name.startsWith("hub:") && existsSync(file)) return { path: file, sourceOf };
  const signal = setting.signal ?? new AbortController().signal;
  onStatus(`converting ${name}`);
  const report = await convertDataset({
    input: name,
    output: file,
    strict: true,
    withoutInput: hasPrompt,
    onRow: (where) => {
      if (places.length < MAX_PLACES) places.push(where);
    },
    access: {
      hub: hubAccess({ get, env, signal, onNotice }),
      directory: path.join(directory, "sources"),
      roots,
      signal,
      log: onStatus,
    },
  });
  onNotice(`Converted ${report.converted} rows of ${name} (${report.format}).`);
  for (const notice of report.notices) onNotice(notice);
  return { path: file, sourceOf };
}
