import type { Collection } from "../../rollouts/collect/collect.ts";
import { ControlServer } from "../../rollouts/collect/control-server.ts";
import type { RunView } from "./run-view.ts";

/** Opens the control socket of a collection; without one it runs all the same. */
export function openControl(collection: Collection, output: string, view: RunView): void {
  ControlServer.listen(collection, output).then(
    (control) => process.once("exit", () => control.close()),
    (error: Error) => view.notice(`gym eval ctl cannot reach this run: ${error.message}`),
  );
}
