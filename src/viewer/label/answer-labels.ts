import type { LabelState } from "../api-types.ts";
import { ViewerRequestError } from "../errors.ts";
import type { LabelSession } from "./label-session.ts";

/** Answers a request of the page for labels. `body` is that of a POST. */
export async function answerLabels(
  labels: LabelSession,
  pathname: string,
  parameters: URLSearchParams,
  body: unknown,
): Promise<LabelState> {
  if (pathname !== "/api/label")
    throw new ViewerRequestError(
      403,
      "Only rollouts to label are shown here, because other pages show their verdicts.",
    );
  if (body !== undefined) return labels.submit(body);
  const [task, rollout] = ["task", "rollout"].map((name) => parameters.get(name));
  if (task === null || rollout === null || task === undefined || rollout === undefined)
    return labels.state(parameters.get("labeller"));
  if (!/^\d{1,15}$/.test(task) || !/^\d{1,15}$/.test(rollout))
    throw new ViewerRequestError(400, "task and rollout must be whole numbers.");
  return labels.state(parameters.get("labeller"), { task: Number(task), rollout: Number(rollout) });
}
