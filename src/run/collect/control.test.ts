import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { userDirectory } from "../../base/files/private-directory.ts";
import { findCollection } from "./control.ts";

/** A collection that answers a request with a line, or never. */
async function listen(name: string, line: string | undefined): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", () => void (line !== undefined && socket.end(line)));
  });
  await new Promise<void>((resolve) => server.listen(path.join(userDirectory(), name), resolve));
  onTestFinished(() => void server.close());
}

it("finds a collection while another does not answer", { timeout: 4_000 }, async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), "control-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  vi.stubEnv("XDG_RUNTIME_DIR", directory);
  onTestFinished(() => void vi.unstubAllEnvs());
  await listen("1.sock", undefined);
  await listen("2.sock", '{"ok":true,"output":"mine"}\n');
  await listen("3.sock", '{"ok":true,"output":"theirs"}\n');
  const found = await findCollection(async (answer) => answer.ok && answer.output === "mine");
  expect(found?.socket).toBe(path.join(userDirectory(), "2.sock"));
});
