import { ViewerRequestError } from "./errors.ts";
import { readQuery } from "./row-query.ts";
import type { ViewedRun } from "./viewed-run.ts";

type Route = (run: ViewedRun, parameters: URLSearchParams, signal: AbortSignal) => Promise<string>;

const ROUTES: Readonly<Record<string, Route>> = {
  "/api/status": async (run) => JSON.stringify(await run.status()),
  "/api/rollouts": async (run, parameters, signal) =>
    JSON.stringify(await run.page(readQuery(parameters), signal)),
  "/api/overview": async (run, parameters, signal) =>
    JSON.stringify(await run.overview(readQuery(parameters), signal)),
  "/api/tasks": async (run, parameters, signal) =>
    JSON.stringify(await run.tasks(readQuery(parameters), signal)),
  "/api/statistics": async (run) => JSON.stringify(await run.statistics()),
  "/api/row": async (run, parameters) => {
    const source = parameters.get("source") ?? "rollouts";
    const line = Number(parameters.get("line"));
    if (source !== "rollouts" && source !== "failures")
      throw new ViewerRequestError(400, "source must be rollouts or failures.");
    if (!Number.isSafeInteger(line) || line < 1)
      throw new ViewerRequestError(400, "line must be a whole number from 1.");
    const generation = parameters.get("generation") ?? "";
    if (!/^\d{0,15}$/.test(generation))
      throw new ViewerRequestError(400, "generation must be a whole number from 0.");
    return generation === ""
      ? run.rowText({ source, line })
      : run.rowTextOf(Number(generation), { source, line });
  },
};

/** Answers a request to the viewer's JSON API; undefined when there is no such address. */
export function answerApi(
  run: ViewedRun,
  pathname: string,
  parameters: URLSearchParams,
  signal: AbortSignal,
): Promise<string> | undefined {
  return Object.hasOwn(ROUTES, pathname) ? ROUTES[pathname]?.(run, parameters, signal) : undefined;
}
