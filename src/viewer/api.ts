import type { Annotation } from "./api-types.ts";
import { ViewerRequestError } from "./errors.ts";
import { ROW_PARAMETERS, readRequest } from "./query/request.ts";
import { type CompareRequest, compareViewed } from "./run/compare.ts";
import { panelTexts } from "./run/dataset-panel.ts";
import { controlLive, liveOf } from "./run/live.ts";
import { readLogs } from "./run/run-logs.ts";
import { taskMeans } from "./run/task-grid.ts";
import type { ViewedRun } from "./run/viewed-run.ts";
import type { Workspace } from "./run/workspace.ts";
import { rolloutsHtml } from "./share/static-copy.ts";
import type { WebFiles } from "./web-files.ts";

export interface ApiContext {
  workspace: Workspace;
  webFiles: WebFiles;
  /** If set, annotations and control requests are rejected. */
  readOnly: boolean;
}

/** An answer that is not a value to be sent as JSON. */
export interface Content {
  content: Buffer | string;
  headers: Record<string, string>;
}

interface Request {
  context: ApiContext;
  parameters: URLSearchParams;
  signal: AbortSignal;
}

interface Read {
  /** Parameters in addition to `run`; all others are rejected. */
  known: readonly string[];
  answer: (request: Request) => Promise<string | Content>;
}

/** An address that answers with a JSON value. */
function json(known: readonly string[], answer: (request: Request) => Promise<unknown>): Read {
  return { known, answer: async (request) => JSON.stringify(await answer(request)) };
}

/** An address that answers with a JSON value about one run. */
function jsonOfRun(
  known: readonly string[],
  answer: (run: ViewedRun, request: Request) => Promise<unknown>,
): Read {
  return json(known, async (request) => answer(await runOf(request.context, request.parameters), request));
}

const READS: Readonly<Record<string, Read>> = {
  "/api/runs": json([], ({ context }) => context.workspace.list()),
  "/api/status": jsonOfRun([], async (run, { context }) => {
    const status = await run.status();
    return { ...status, can_annotate: status.can_annotate && !context.readOnly };
  }),
  "/api/rollouts": jsonOfRun(ROW_PARAMETERS, (run, { parameters, signal }) =>
    run.page(readRequest(parameters), signal),
  ),
  "/api/overview": jsonOfRun(ROW_PARAMETERS, (run, { parameters, signal }) =>
    run.overview(readRequest(parameters), signal),
  ),
  "/api/tasks": jsonOfRun(ROW_PARAMETERS, async (run, { context, parameters, signal }) => {
    const request = readRequest(parameters);
    const against = request.against && (await context.workspace.readRun(request.against, signal));
    const other = against ? taskMeans(against.rollouts) : undefined;
    if (request.set === "flipped" && !other)
      throw new ViewerRequestError(400, "against: name a run for the set 'flipped'.");
    return run.tasks(request, other, signal);
  }),
  "/api/statistics": jsonOfRun([], (run, { signal }) => panelTexts(run.files, signal)),
  "/api/row": {
    known: ["source", "line", "generation"],
    answer: async ({ context, parameters }) => {
      const { rows } = await runOf(context, parameters);
      const ref = rowRef(parameters);
      return parameters.has("generation")
        ? rows.textOf(wholeNumber(parameters, "generation", 0), ref)
        : rows.text(ref);
    },
  },
  "/api/part": {
    known: ["source", "line", "from", "to"],
    answer: async ({ context, parameters }) => {
      const { rows } = await runOf(context, parameters);
      const [from, to] = [wholeNumber(parameters, "from", 0), wholeNumber(parameters, "to", 0)];
      const content = await rows.part(rowRef(parameters), from, to);
      const type = isJson(content) ? "application/json" : "text/plain";
      return { content, headers: { "content-type": `${type}; charset=utf-8`, "cache-control": "no-store" } };
    },
  },
  "/api/logs": jsonOfRun(["name", "rollout"], ({ files }, { parameters }) => {
    const name = parameters.get("name") ?? undefined;
    return readLogs(files.logs, { name, rollout: parameters.get("rollout") || undefined });
  }),
  "/api/compare": json(
    ["runs", "match", "change", "offset", "limit"],
    async ({ context, parameters, signal }) => {
      const ids = namesIn(parameters, "runs").map(decodeURIComponent);
      if (ids.length > 6) throw new ViewerRequestError(400, "At most 6 runs are compared at once.");
      const runs = await Promise.all(ids.map((id) => context.workspace.readRun(id, signal)));
      return compareViewed(runs, compareRequest(parameters));
    },
  ),
  "/api/board": json([], ({ context, signal }) => context.workspace.board(signal)),
  "/api/optimization": json(["name"], ({ context, parameters, signal }) =>
    context.workspace.optimization(parameters.get("name") ?? ".", signal),
  ),
  "/api/live": jsonOfRun([], ({ files }) => liveOf(files.rollouts)),
  "/api/share": {
    known: ["rows"],
    answer: async ({ context, parameters }) => {
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
  },
};

function readAt(pathname: string): Read | undefined {
  return Object.hasOwn(READS, pathname) ? READS[pathname] : undefined;
}

/** Rejects parameters that an address does not have: a misspelt one would otherwise be ignored silently. */
export function checkParameters(pathname: string, parameters: URLSearchParams): void {
  const known = ["run", ...(readAt(pathname)?.known ?? [])];
  for (const name of parameters.keys())
    if (!known.includes(name))
      throw new ViewerRequestError(
        400,
        `There is no parameter '${name}'; ${pathname} has ${known.join(", ")}.`,
      );
}

const WRITES: Readonly<Record<string, (run: ViewedRun, body: unknown) => Promise<unknown>>> = {
  "/api/annotate": annotate,
  "/api/control": ({ files }, body) => controlLive(files.rollouts, body),
};

/** Answers a GET request to the viewer's JSON API; undefined for an unknown address. */
export function answerRead(
  context: ApiContext,
  pathname: string,
  parameters: URLSearchParams,
  signal: AbortSignal,
): Promise<string | Content> | undefined {
  return readAt(pathname)?.answer({ context, parameters, signal });
}

/** Answers a POST request with JSON text; undefined for an address without POST. */
export async function answerWrite(
  context: ApiContext,
  pathname: string,
  parameters: URLSearchParams,
  body: unknown,
): Promise<string | undefined> {
  const write = Object.hasOwn(WRITES, pathname) ? WRITES[pathname] : undefined;
  if (write === undefined) return undefined;
  if (context.readOnly) throw new ViewerRequestError(403, "This viewer was started with --read-only.");
  return JSON.stringify(await write(await runOf(context, parameters), body));
}

async function annotate(run: ViewedRun, body: unknown): Promise<Annotation> {
  if (run.copyOf !== undefined)
    throw new ViewerRequestError(
      403,
      `'${run.copyOf}' is a copy or a packed run, which keeps no annotations.`,
    );
  await run.readTo({ source: "rollouts", line: Number.POSITIVE_INFINITY });
  return run.annotations.note(body, (task, rollout) => run.rows.hasRollout(task, rollout));
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

/** The names in a parameter, separated by commas. */
function namesIn(parameters: URLSearchParams, name: string): string[] {
  return (parameters.get(name) ?? "").split(",").filter((text) => text !== "");
}

/** `rows=rollouts:3,failures:1`. */
function readRefs(parameters: URLSearchParams) {
  const refs = namesIn(parameters, "rows");
  if (refs.length === 0 || refs.length > 500)
    throw new ViewerRequestError(400, "rows must name 1 to 500 rows, as rollouts:LINE,failures:LINE.");
  return refs.map((text) => {
    const match = /^(rollouts|failures):([1-9]\d{0,11})$/.exec(text);
    if (match === null) throw new ViewerRequestError(400, `'${text}' is not rollouts:LINE or failures:LINE.`);
    return { source: match[1] as "rollouts" | "failures", line: Number(match[2]) };
  });
}

const MATCHES = ["index", "content"] as const;
const CHANGES = ["improved", "regressed", "unchanged", "missing"] as const;

function compareRequest(parameters: URLSearchParams): CompareRequest {
  return {
    match: oneOf(parameters, "match", MATCHES),
    change: oneOf(parameters, "change", CHANGES),
    offset: wholeNumber(parameters, "offset", 0, 0),
    limit: Math.min(500, wholeNumber(parameters, "limit", 0, 200)),
  };
}

function oneOf<T extends string>(
  parameters: URLSearchParams,
  name: string,
  known: readonly T[],
): T | undefined {
  const value = parameters.get(name);
  if (value === null) return undefined;
  const found = known.find((each) => each === value);
  if (found !== undefined) return found;
  const list = `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`;
  throw new ViewerRequestError(400, `${name} must be ${list}.`);
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
