import { Reply } from "../../calls/server-call.ts";
import { isObject } from "../../python/json/json-object.ts";
import { MalformedBody } from "../app.ts";

/** Error codes of JSON-RPC 2.0. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** The error for a body that is not a JSON-RPC message or a batch of them; undefined for a valid body. */
export function refusalOf(body: unknown): Reply | undefined {
  if (body === undefined) return refusal(PARSE_ERROR, "Parse error: the body is empty");
  if (body instanceof MalformedBody) {
    const reason = body.detail.ctx?.["error"] ?? body.detail.msg;
    return refusal(PARSE_ERROR, `Parse error: ${reason}`);
  }
  if (!Array.isArray(body))
    return isMessage(body) ? undefined : refusal(INVALID_REQUEST, NO_MESSAGE, idOf(body));
  if (body.length === 0) return refusal(INVALID_REQUEST, "Invalid Request: the batch is empty");
  return body.every(isMessage) ? undefined : refusal(INVALID_REQUEST, NO_MESSAGE);
}

const NO_MESSAGE = "Invalid Request: this is not a JSON-RPC 2.0 message";

/** A request, a notification or the answer to one. */
function isMessage(value: unknown): boolean {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return false;
  const { id, method, params } = value;
  if (id !== undefined && !isId(id)) return false;
  if (typeof method === "string") return params === undefined || isObject(params);
  return method === undefined && id !== undefined && (isObject(value["result"]) || isObject(value["error"]));
}

function idOf(value: unknown): unknown {
  return isObject(value) && isId(value["id"]) ? value["id"] : null;
}

function isId(value: unknown): boolean {
  return typeof value === "string" || Number.isInteger(value);
}

function refusal(code: number, message: string, id: unknown = null): Reply {
  return new Reply({ status: 400, body: { jsonrpc: "2.0", error: { code, message }, id } });
}
