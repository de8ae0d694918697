import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { notRegularError, RolloutError, RolloutFileError } from "../errors.ts";

/** Names of open streams; what they lead to may be a file, but it is not one to lay other files beside. */
const STREAM = /^\/(dev\/(stdin|stdout|stderr|fd\/.*)|proc\/self\/fd\/.*)$/;

/** An output is a file in a directory: neither a directory itself nor a device, a pipe or a socket. */
export async function refuseNonFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory())
    throw new RolloutError(
      "ROLLOUT_FILE_IS_DIRECTORY",
      `'${path}' is a directory; --output must name a file.`,
    );
  if (STREAM.test(path) || (found && !found.isFile())) throw notRegularError(path);
  if (!found) await refuseInsideFile(path);
}

async function refuseInsideFile(path: string): Promise<void> {
  for (let place = dirname(path); ; place = dirname(place)) {
    const found = await stat(place).catch(() => undefined);
    if (found?.isDirectory() || place === dirname(place)) return;
    if (found) {
      throw new RolloutFileError(
        "ROLLOUT_FILE_NOT_WRITABLE",
        path,
        `'${path}' cannot be created: '${place}' is a file, not a directory.`,
      );
    }
  }
}
