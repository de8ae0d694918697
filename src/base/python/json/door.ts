/** JSON as Python reads and writes it. */

export { jsonDecodeErrorRepr } from "./json-decode-error.ts";
export { dumps, dumpsCompact } from "./json-dumps.ts";
export { defaultMaxDepth, JsonTextError, loads, loadsPlain } from "./json-loads.ts";
export { isObject, type JsonObject, setMember } from "./json-object.ts";
export { restyle } from "./json-restyle.ts";
export { copyWith, noteKeyOrder, orderedKeys } from "./key-order.ts";
