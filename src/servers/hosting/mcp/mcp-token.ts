import { createHash, createHmac } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { sameText } from "../session-cookie.ts";

const SALT = "nemo-gym-mcp-session-token";
const MAX_TOKEN_BYTES = 64 * 1024;

/** The content of a token: its session, and the tools that it may call (null: all). */
export interface McpToken {
  sid: string;
  tools: string[] | null;
}

/** Signs a session token in the original's format. */
export function signMcpToken(secret: string, token: McpToken): string {
  const json = Buffer.from(JSON.stringify({ sid: token.sid, tools: token.tools }));
  const packed = deflateSync(json);
  const payload =
    packed.length < json.length - 1 ? `.${packed.toString("base64url")}` : json.toString("base64url");
  return `${payload}.${signature(secret, payload)}`;
}

/** Reads a token; undefined when it is forged or malformed. */
export function readMcpToken(secret: string, text: string): McpToken | undefined {
  if (text.length > MAX_TOKEN_BYTES) return undefined;
  const dot = text.lastIndexOf(".");
  if (dot <= 0) return undefined;
  const payload = text.slice(0, dot);
  if (!sameText(signature(secret, payload), text.slice(dot + 1))) return undefined;
  try {
    const bytes = payload.startsWith(".")
      ? inflateSync(Buffer.from(payload.slice(1), "base64url"), { maxOutputLength: MAX_TOKEN_BYTES })
      : Buffer.from(payload, "base64url");
    const { sid, tools } = JSON.parse(bytes.toString()) as McpToken;
    return typeof sid === "string" ? { sid, tools: Array.isArray(tools) ? tools : null } : undefined;
  } catch {
    return undefined;
  }
}

function signature(secret: string, payload: string): string {
  const key = createHash("sha1").update(`${SALT}signer${secret}`).digest();
  return createHmac("sha1", key).update(payload).digest("base64url");
}
