import type { Sandbox } from "nemo-gym/sandbox";
import { type KeystrokeBatch, keystrokeBatch, Terminal } from "./terminal.ts";

const SIZE = { width: 160, height: 40 };

const terminals = new WeakMap<Sandbox, Terminal>();

/**
 * The tool `terminal` of an environment with a sandbox, without its `run`. Agents that work in a terminal call it; models
 * and MCP clients are not offered it.
 */
export const terminalTool = {
  description: "Type keystrokes in the terminal of the task's machine and get what it shows.",
  expose: false,
  input: keystrokeBatch,
} as const;

/** Types in the terminal of a sandbox, which lasts as long as the sandbox. */
export async function typeInto(
  sandbox: Sandbox,
  batch: KeystrokeBatch,
  signal: AbortSignal,
): Promise<{ screen: string }> {
  const terminal = terminals.get(sandbox) ?? new Terminal(sandbox, SIZE);
  terminals.set(sandbox, terminal);
  return { screen: await terminal.type(batch, signal) };
}
