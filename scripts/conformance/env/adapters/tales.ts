import path from "node:path";
import type { Adapter } from "../adapters.ts";

/** The fixtures play the game of the stand-in. */
export const adapter: Adapter = {
  config: (_, { directory }) => ({ python_path: [path.join(directory, "stand-in")] }),
};
