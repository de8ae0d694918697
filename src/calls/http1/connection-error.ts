import { GymError } from "../../errors.ts";

export type ConnectionErrorCode =
  | "CONNECTION_CLOSED"
  | "CONNECTION_TIMEOUT"
  | "REQUEST_INVALID"
  | "RESPONSE_NOT_HTTP"
  | "RESPONSE_TOO_LARGE";

/** An exchange that cannot be made, or did not come to its end. What the system says (`ECONNREFUSED` and the like) is thrown as it is. */
export class ConnectionError extends GymError {
  override readonly code: ConnectionErrorCode;

  constructor(code: ConnectionErrorCode, message: string) {
    super(code, message);
    this.code = code;
  }
}

/** An answer that cannot be taken for one. */
export function notHttp(problem: string): ConnectionError {
  return new ConnectionError("RESPONSE_NOT_HTTP", `the answer is no HTTP: ${problem}`);
}

export function tooLarge(): ConnectionError {
  return new ConnectionError("RESPONSE_TOO_LARGE", "the answer is larger than allowed");
}
