import type { ChatMessage } from "nemo-gym/openai";
import type { AdaptBody } from "../../libraries/vllm/vllm-backend.ts";

/**
 * Moves the texts to compare from the metadata, where requests can carry them, to messages with the roles the model was trained on.
 * The metadata is not sent.
 */
export function comparisonRoles(supportsPrinciple: boolean): AdaptBody {
  const roles = [...(supportsPrinciple ? ["principle"] : []), "response_1", "response_2"];
  return ({ metadata, ...body }) => {
    const given = (metadata ?? {}) as Record<string, string>;
    const present = roles.filter((role) => (role === "principle" ? given[role] : given[role] != null));
    const extra = present.map((role) => ({ role, content: given[role] }) as unknown as ChatMessage);
    return { ...body, messages: [...body.messages, ...extra] };
  };
}
