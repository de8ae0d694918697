/** Finding and steering runs, without what runs them. */

export {
  askCollection,
  type ControlAnswer,
  type ControlRequest,
  findCollection,
  type RunningCollection,
  runningCollections,
} from "./collect/control.ts";
export { gymVersion } from "./gym-version.ts";
export { Repeats, type RepeatsSetting } from "./inputs/repeats.ts";
export { loadRolloutDriver, locateRolloutDriver, type RolloutDriver } from "./rollout-driver.ts";
