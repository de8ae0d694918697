import { join } from "node:path";
import { MASK } from "../../base/secrets.ts";
import { MlflowExporter } from "./mlflow.ts";
import type { ExportedRun, RunExporter } from "./run-exporters.ts";
import { WandbExporter } from "./wandb.ts";

const WANDB_URL = "https://api.wandb.ai";

interface ExporterSettings extends ExportedRun {
  /** The value of a config key; undefined or null if it is not set. */
  get: (key: string) => unknown;
  env: Readonly<Record<string, string | undefined>>;
  /** `results_dir`. */
  resultsDirectory: string;
}

/** The exporters with all keys set. By default there are none. */
export function configuredExporters(settings: ExporterSettings): RunExporter[] {
  return [wandb(settings), mlflow(settings)].filter((exporter) => exporter !== undefined);
}

function wandb({ get, env, resultsDirectory, ...run }: ExporterSettings): RunExporter | undefined {
  const project = text(get("wandb_project"));
  const runName = text(get("wandb_name"));
  const apiKey = secret(get("wandb_api_key"));
  const mode = text(get("wandb_mode")) ?? env["WANDB_MODE"] ?? "online";
  const offline = mode === "offline";
  if (project === undefined || runName === undefined || mode === "disabled") return undefined;
  if (apiKey === undefined && !offline) return undefined;
  const entity = text(get("wandb_entity")) ?? env["WANDB_ENTITY"];
  const baseUrl = text(get("wandb_base_url")) ?? env["WANDB_BASE_URL"] ?? WANDB_URL;
  return new WandbExporter({
    ...run,
    project,
    runName,
    entity,
    directory: join(resultsDirectory, "wandb"),
    access: offline || apiKey === undefined ? undefined : { baseUrl, apiKey, entity },
  });
}

function mlflow({ get, env: _env, resultsDirectory: _directory, ...run }: ExporterSettings) {
  const trackingUri = text(get("mlflow_tracking_uri"));
  const experimentName = text(get("mlflow_experiment_name"));
  const runName = text(get("mlflow_run_name"));
  if (trackingUri === undefined || experimentName === undefined || runName === undefined) return undefined;
  if (!/^https?:\/\//.test(trackingUri)) {
    run.onWarning(
      `MLflow: mlflow_tracking_uri '${trackingUri}' is not an http(s) address: nothing is exported.`,
    );
    return undefined;
  }
  const token = secret(get("mlflow_tracking_token"));
  return new MlflowExporter({ ...run, trackingUri, experimentName, runName, token });
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A masked value means absent: the config comes from a source that hides secrets. */
function secret(value: unknown): string | undefined {
  const given = text(value);
  return given === MASK ? undefined : given;
}
