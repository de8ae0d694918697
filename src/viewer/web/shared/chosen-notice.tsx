import { api } from "./api-client.ts";

/** In a file with chosen rollouts: which part of the run the figures are of. */
export function ChosenNotice() {
  if (api.chosen === null) return null;
  const { rows, of } = api.chosen;
  const held = `${rows.toLocaleString("en")} of ${of.toLocaleString("en")} rollouts and failed attempts`;
  return <p className="notice">This file contains {held} of the run. All figures are of these only.</p>;
}
