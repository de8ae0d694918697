import { errorMessage } from "../../../base/errors.ts";
import {
  type MaterializedResponse,
  materializeResponse,
  parseResponse,
  type Response,
} from "../../../wire/schemas/door.ts";

/** The Response of a handler with all keys. An error names the field of an answer that is not a Response. */
export function responseOfHandler(response: Response): MaterializedResponse {
  try {
    return materializeResponse(response);
  } catch (error) {
    throw notAResponse(response) ?? error;
  }
}

function notAResponse(value: unknown): TypeError | undefined {
  try {
    parseResponse(value, ["response"]);
    return undefined;
  } catch (error) {
    return new TypeError(`the handler 'responses' did not return a Response: ${errorMessage(error)}`);
  }
}
