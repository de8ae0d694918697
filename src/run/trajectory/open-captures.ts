import type { Row } from "../../records/files/door.ts";
import {
  capturesTokens,
  isTokenSource,
  loadTokenSink,
  makeCaptureDirectory,
  modelCallDirectory,
  type TokenCaptureSettings,
  TokenFileStore,
  type TokenSource,
  tokenCaptureSettings,
} from "../../servers/capture/door.ts";
import { RolloutCaptures } from "./captures.ts";

/** Opens the captures that the config of a run enables; undefined when nothing is recorded. */
export async function openCaptures(options: {
  config: Row;
  /** The config block of an agent, if the collector has it. */
  agentConfig: (agent: string) => Row | undefined;
  findFile: (path: string) => string;
  onNotice: (text: string) => void;
}): Promise<RolloutCaptures | undefined> {
  const { config, agentConfig, findFile, onNotice } = options;
  const directory = modelCallDirectory(config);
  const settings = tokenCaptureSettings(config);
  if (directory !== undefined) await makeCaptureDirectory("model_call_capture_dir", directory);
  const source = settings && (await tokenSource(settings, findFile));
  if (directory === undefined && source === undefined) return undefined;
  const unknown = new Set<string>();
  const tellUnknown = (agent: string) => {
    if (unknown.has(agent)) return;
    unknown.add(agent);
    onNotice(
      `It is not known whether tokens of ${agent} are captured, so its rollouts are not rebuilt: pass the config of its servers, or set token_id_capture.all_agents.`,
    );
  };
  return new RolloutCaptures({
    modelCallDirectory: directory,
    tokens: source && {
      source,
      appliesTo: (agent) => {
        const own = agentConfig(agent);
        if (own === undefined && !settings.allAgents) tellUnknown(agent);
        return capturesTokens(settings, own ?? {});
      },
      maxMaskFraction: settings.maxMaskFraction,
      maskFractionMinSamples: settings.maskFractionMinSamples,
    },
    onNotice,
  });
}

/** The source of tokens for rebuilt responses; undefined if another component rebuilds them. */
async function tokenSource(
  settings: TokenCaptureSettings,
  findFile: (path: string) => string,
): Promise<TokenSource | undefined> {
  if (!settings.rebuildResponse) return undefined;
  const { directory } = settings;
  if (settings.sink === undefined) {
    if (directory === undefined) return undefined;
    await makeCaptureDirectory("token_id_capture.dir", directory);
    return new TokenFileStore(directory);
  }
  const sink = await loadTokenSink(settings.sink, settings.sinkOptions, findFile);
  return isTokenSource(sink) ? sink : undefined;
}
