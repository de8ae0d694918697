import { TASK_SETS } from "./api-types.ts";
import { ViewerRequestError } from "./errors.ts";
import { ROW_PARAMETERS, readRequest } from "./query/request.ts";
import { type CompareRequest, compareViewed } from "./run/compare.ts";
import { panelTexts } from "./run/dataset-panel.ts";
import { controlLive, liveOf } from "./run/live.ts";
import { readLogs } from "./run/run-logs.ts";
import { taskMeans } from "./run/task-grid.ts";
import type { Workspace } from "./run/workspace.ts";
import { rolloutsHtml } from "./share/rollouts-html.ts";
import type { WebFiles } from "./web-files.ts";

export interface ApiContext {
  workspace: Workspace;
  webFiles: WebFiles;
  /** If set, annotations and control requests are refused. */
  readOnly: boolean;
}

/** The answer of an address: JSON text, or a file to save. */
export type ApiAnswer = string | { content: Buffer | string; headers: Record<string, string> };

type Read = (context: ApiContext, parameters: URLSearchParams, signal: AbortSignal) => Promise<ApiAnswer>;
type Write = (context: ApiContext, parameters: URLSearchParams, body: unknown) => Promise<ApiAnswer>;

const READS: Readonly<Record<string, Read>> = {
  "/api/runs": async ({ workspace }) => JSON.stringify(await workspace.list()),
  "/api/status": async (context, parameters) => {
    const status = await (await runOf(context, parameters)).status();
    return JSON.stringify({ ...status, can_annotate: status.can_annotate && !context.readOnly });
  },
  "/api/rollouts": async (context, parameters, signal) =>
    JSON.stringify(await (await runOf(context, parameters)).page(readRequest(parameters), signal)),
  "/api/overview": async (context, parameters, signal) =>
    JSON.stringify(await (await runOf(context, parameters)).overview(readRequest(parameters), signal)),
  "/api/tasks": async (context, parameters, signal) => {
    const request = readRequest(parameters);
    const run = await runOf(context, parameters);
    const against = request.against && (await context.workspace.readRun(request.against, signal));
    const other = against ? taskMeans(against.rollouts) : undefined;
    if (request.set === "flipped" && !other)
      throw new ViewerRequestError(400, `against: name a run for the set '${TASK_SETS.at(-1)}'.`);
    return JSON.stringify(await run.tasks(request, other, signal));
  },
  "/api/statistics": async (context, parameters, signal) =>
    JSON.stringify(await panelTexts((await runOf(context, parameters)).files, signal)),
  "/api/row": async (context, parameters) => {
    const run = await runOf(context, parameters);
    const ref = rowRef(parameters);
    const generation = parameters.get("generation");
    return generation === null
      ? run.rows.text(ref)
      : run.rows.textOf(wholeNumber(parameters, "generation", 0), ref);
  },
  "/api/part": async (context, parameters) => {
    const run = await runOf(context, parameters);
    const [from, to] = [wholeNumber(parameters, "from", 0), wholeNumber(parameters, "to", 0)];
    const content = await run.rows.part(rowRef(parameters), from, to);
    return {
      content,
      headers: {
        "content-type": `${isJson(content) ? "application/json" : "text/plain"}; charset=utf-8`,
        "cache-control": "no-store",
      },
    };
  },
  "/api/logs": async (context, parameters) => {
    const run = await runOf(context, parameters);
    const [name, rollout] = [parameters.get("name"), parameters.get("rollout")];
    return JSON.stringify(
      await readLogs(run.files.logs, { ...(name !== null && { name }), ...(rollout && { rollout }) }),
    );
  },
  "/api/compare": async ({ workspace }, parameters, signal) => {
    const ids = (parameters.get("runs") ?? "")
      .split(",")
      .filter((id) => id !== "")
      .map(decodeURIComponent);
    if (ids.length > 6) throw new ViewerRequestError(400, "At most 6 runs are compared at once.");
    const runs = await Promise.all(ids.map((id) => workspace.readRun(id, signal)));
    return JSON.stringify(await compareViewed(runs, compareRequest(parameters)));
  },
  "/api/live": async (context, parameters) =>
    JSON.stringify(await liveOf((await runOf(context, parameters)).files.rollouts)),
  "/api/share": async (context, parameters) => {
    const run = await runOf(context, parameters);
    const content = await rolloutsHtml(run, readRefs(parameters), context.webFiles);
    return {
      content,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-disposition": `attachment; filename="${run.id.replace(/[^\w.-]+/g, "_")}-rollouts.html"`,
        "cache-control": "no-store",
      },
    };
  },
};

/** The parameters of each address in addition to `run`; all others are refused. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  "/api/rollouts": ROW_PARAMETERS,
  "/api/overview": ROW_PARAMETERS,
  "/api/tasks": ROW_PARAMETERS,
  "/api/row": ["source", "line", "generation"],
  "/api/part": ["source", "line", "from", "to"],
  "/api/logs": ["name", "rollout"],
  "/api/compare": ["runs", "match", "change", "offset", "limit"],
  "/api/share": ["rows"],
};

/** Refuses parameters that an address does not have: a misspelt one would otherwise be ignored silently. */
export function checkParameters(pathname: string, parameters: URLSearchParams): void {
  const known = ["run", ...(Object.hasOwn(PARAMETERS, pathname) ? (PARAMETERS[pathname] ?? []) : [])];
  for (const name of parameters.keys())
    if (!known.includes(name))
      throw new ViewerRequestError(
        400,
        `There is no parameter '${name}'; ${pathname} has ${known.join(", ")}.`,
      );
}

const WRITES: Readonly<Record<string, Write>> = {
  "/api/annotate": async (context, parameters, body) => {
    const run = await runOf(context, parameters);
    if (run.copyOf !== undefined)
      throw new ViewerRequestError(403, `'${run.copyOf}' is shown from a copy, which keeps no annotations.`);
    await run.readTo({ source: "rollouts", line: Number.POSITIVE_INFINITY });
    const exists = (task: number, rollout: number) => run.rows.hasRollout(task, rollout);
    return JSON.stringify(await run.annotations.note(body, exists));
  },
  "/api/control": async (context, parameters, body) =>
    JSON.stringify(await controlLive((await runOf(context, parameters)).files.rollouts, body)),
};

/** Answers a GET request to the viewer's JSON API; undefined for an unknown address. */
export function answerRead(
  context: ApiContext,
  pathname: string,
  parameters: URLSearchParams,
  signal: AbortSignal,
): Promise<ApiAnswer> | undefined {
  return Object.hasOwn(READS, pathname) ? READS[pathname]?.(context, parameters, signal) : undefined;
}

/** Answers a POST request; undefined for an address without POST. */
export function answerWrite(
  context: ApiContext,
  pathname: string,
  parameters: URLSearchParams,
  body: unknown,
): Promise<ApiAnswer> | undefined {
  if (!Object.hasOwn(WRITES, pathname)) return undefined;
  if (context.readOnly) throw new ViewerRequestError(403, "This viewer was started with --read-only.");
  return WRITES[pathname]?.(context, parameters, body);
}

export function runOf({ workspace }: ApiContext, parameters: URLSearchParams) {
  return workspace.run(parameters.get("run"));
}

function rowRef(parameters: URLSearchParams) {
  const source = parameters.get("source") ?? "rollouts";
  if (source !== "rollouts" && source !== "failures")
    throw new ViewerRequestError(400, "source must be rollouts or failures.");
  return { source, line: wholeNumber(parameters, "line", 1) } as const;
}

/** `rows=rollouts:3,failures:1`. */
function readRefs(parameters: URLSearchParams) {
  const refs = (parameters.get("rows") ?? "").split(",").filter((text) => text !== "");
  if (refs.length === 0 || refs.length > 500)
    throw new ViewerRequestError(400, "rows must name 1 to 500 rows, as rollouts:LINE,failures:LINE.");
  return refs.map((text) => {
    const match = /^(rollouts|failures):([1-9]\d{0,11})$/.exec(text);
    if (match === null) throw new ViewerRequestError(400, `'${text}' is not rollouts:LINE or failures:LINE.`);
    return { source: match[1] as "rollouts" | "failures", line: Number(match[2]) };
  });
}

function compareRequest(parameters: URLSearchParams): CompareRequest {
  const [match, change] = [parameters.get("match"), parameters.get("change")];
  if (match !== null && match !== "index" && match !== "content")
    throw new ViewerRequestError(400, "match must be index or content.");
  if (
    change !== null &&
    change !== "improved" &&
    change !== "regressed" &&
    change !== "unchanged" &&
    change !== "missing"
  )
    throw new ViewerRequestError(400, "change must be improved, regressed, unchanged or missing.");
  return {
    match: match ?? undefined,
    change: change ?? undefined,
    offset: wholeNumber(parameters, "offset", 0, 0),
    limit: Math.min(500, wholeNumber(parameters, "limit", 0, 200)),
  };
}

/** A part may begin or end inside a value. */
function isJson(content: Buffer): boolean {
  try {
    JSON.parse(content.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

function wholeNumber(parameters: URLSearchParams, name: string, least: number, otherwise?: number): number {
  const text = parameters.get(name);
  if (text === null && otherwise !== undefined) return otherwise;
  const value = /^\d{1,15}$/.test(text ?? "") ? Number(text) : Number.NaN;
  if (!(value >= least)) throw new ViewerRequestError(400, `${name} must be a whole number from ${least}.`);
  return value;
}
