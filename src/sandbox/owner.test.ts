import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { newSandboxName, withLeftStaging } from "./owner.ts";

it("lists only staging directories that belong to this user alone", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "gym-owner-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  vi.stubEnv("TMPDIR", directory);
  onTestFinished(() => void vi.unstubAllEnvs());
  // The name of a process that cannot run.
  const left = () => newSandboxName().replace(/-\d+-[0-9a-z]+-([0-9a-f]{16})$/, "-999999999-zz-$1");
  const [own, open] = [left(), left()];
  await mkdir(path.join(directory, `${own}.files`), { mode: 0o700 });
  await mkdir(path.join(directory, `${open}.files`));
  await chmod(path.join(directory, `${open}.files`), 0o777);
  expect((await withLeftStaging([])).map(({ id }) => id)).toEqual([own]);
});
