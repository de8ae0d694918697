import { api } from "./api-client.ts";

/** In a file with chosen rollouts: whether the figures of a page are of these or of the whole run. */
export function ChosenNotice({ figures }: { figures: "chosen" | "all" }) {
  if (api.chosen === null) return null;
  const { rows, of } = api.chosen;
  const held = `${rows.toLocaleString("en")} of ${of.toLocaleString("en")} rollouts and failed attempts`;
  return (
    <p className="notice">
      This file contains {held} of the run.{" "}
      {figures === "all"
        ? "The figures of this page are of the whole run."
        : "Tasks, sets and means of this page are of the chosen rollouts only."}
    </p>
  );
}
