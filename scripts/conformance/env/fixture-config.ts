import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject, type JsonObject } from "./rows.ts";

/**
 * Fixtures contain prompt files as text under special keys. Each becomes a file in a temporary folder, set as the config key
 * the server reads.
 */
// JSON is YAML.
const stringify = (value: unknown) => JSON.stringify(value);

const fileKeys: Record<string, { key: string; content: (value: unknown) => string }> = {
  judge_prompt_text: { key: "judge_prompt_path", content: (text) => stringify({ user: text }) },
  judge_prompt: { key: "judge_prompt_path", content: stringify },
  judge_prompt_template_text: { key: "judge_prompt_template_fpath", content: String },
  judge_protocol_prompt_text: { key: "judge_prompt_template_protocol_fpath", content: String },
  judge_prompt_templates: { key: "judge_prompt_templates_path", content: stringify },
  policy_verifier_templates: { key: "policy_verifier_templates_path", content: stringify },
};

export interface InstalledConfig {
  config: JsonObject;
  remove(): Promise<void>;
}

/** The server config of a fixture row, with its prompt texts written to files. */
export async function installConfig(fixture: JsonObject): Promise<InstalledConfig> {
  const config: JsonObject = {
    judge_model_server: { type: "responses_api_models", name: "judge" },
    judge_responses_create_params: { input: [] },
  };
  let directory: string | undefined;
  const install = async (name: string, content: string) => {
    directory ??= await mkdtemp(join(tmpdir(), "gym-conformance-"));
    const path = join(directory, name);
    await writeFile(path, content);
    return path;
  };
  for (const [key, value] of Object.entries(fixture)) {
    const file = fileKeys[key];
    if (file) config[file.key] = await install(`${key}.yaml`, file.content(value));
    else if (key === "judge_prompts" && isObject(value)) {
      const paths: JsonObject = {};
      for (const name of Object.keys(value))
        paths[name] = await install(`${name}.yaml`, stringify(value[name]));
      config["judge_prompt_paths"] = paths;
    } else config[key] = value;
  }
  return {
    config,
    remove: async () => {
      if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}
