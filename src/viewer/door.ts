/** The viewer's server, queries and copies. */

export { newToken } from "./access-token.ts";
export type { LabelItem, LabelState } from "./api-types.ts";
export { labelPages } from "./label/label-pages.ts";
export { type LabelOptions, LabelSession } from "./label/label-session.ts";
export { parseQuery, QueryError } from "./query/query.ts";
export { readRequest } from "./query/request.ts";
export { refOf } from "./query/select-rows.ts";
export { Workspace } from "./run/workspace.ts";
export { ViewerServer } from "./server.ts";
export { rolloutsHtml, writeStaticBoard, writeStaticFolder } from "./share/static-copy.ts";
export { loadWebFiles, type WebFiles } from "./web-files.ts";
