import { failureKind } from "../../base/failures.ts";

/** The same classes if the model's endpoint could not be reached or understood. */
const ADVICE_ON_ENDPOINT: Readonly<Record<string, string>> = {
  connection: "Check the address of the model's endpoint (--model-url), and that it is running.",
  invalid_response:
    "Check the address of the model's endpoint (--model-url), up to its last /v1, and that it supports the API of --model-type.",
};

/** The log location of a run with its own servers, and of one that connects to running servers. */
const OWN_LOGS = "in the directory `logs` next to the results";
const OTHERS_LOGS = "in the directory that `gym env start` prints when it starts";

/** The remedy for failures of a class in a stage; custom classes of servers have none. */
export function failureAdvice(
  failureClass: string,
  {
    stage,
    message = "",
    ownServers = true,
  }: { stage?: string | undefined; message?: string; ownServers?: boolean } = {},
): string | undefined {
  if (stage === "model" && Object.hasOwn(ADVICE_ON_ENDPOINT, failureClass))
    return ADVICE_ON_ENDPOINT[failureClass];
  // Time-out messages name the key of the limit.
  const limit = /\((\w+_timeout_seconds)\)/.exec(message)?.[1] ?? "the time limit";
  return failureKind(failureClass)
    ?.advice.replace("{limit}", limit)
    .replace("{logs}", ownServers ? OWN_LOGS : OTHERS_LOGS);
}
