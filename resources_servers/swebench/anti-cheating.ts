import type { Sandbox } from "nemo-gym/sandbox";
import { run } from "./evaluate.ts";
import { WORKDIR } from "./instance.ts";

const SCRIPT_FILE = `${WORKDIR}/anti_cheat_setup.sh`;

/** Removes every way to commits after the checked out one: they contain the solution. */
const SCRIPT = `#!/bin/bash
set -e
cd "$WORKING_DIRECTORY"
rm -f -- anti_cheat_setup.sh
for remote in $(git remote); do git remote remove "$remote"; done
git checkout -q --detach
git for-each-ref --format='delete %(refname)' | git update-ref --stdin
git stash clear
rm -f .git/FETCH_HEAD .git/ORIG_HEAD
git reflog expire --expire=now --all
git gc -q --prune=now
`;

/** Resets the repository and removes its future. A script that fails is only reported, as in the original. */
export async function removeFuture(sandbox: Sandbox, signal: AbortSignal): Promise<string | undefined> {
  await sandbox.writeText(SCRIPT_FILE, SCRIPT, { signal });
  const command = `git reset --hard && WORKING_DIRECTORY=${WORKDIR} bash ${SCRIPT_FILE}`;
  const { return_code, stderr } = await run(sandbox, command, { signal });
  return return_code === 0 ? undefined : (stderr ?? "");
}
