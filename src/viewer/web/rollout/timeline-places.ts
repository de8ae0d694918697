import type { ConversationItem } from "../../conversation/conversation.ts";
import type { CallOwners, InvocationView } from "../../conversation/invocations.ts";
import type { TimelineSpan } from "../../conversation/timeline.ts";

/** The items of the conversation that the timeline links to. */
export interface TimelinePlaces {
  ofSpan: (span: TimelineSpan) => number | undefined;
  ofAgent: (id: string) => number | undefined;
  /** Index of the model call of a turn. Calls of agents that the conversation does not show are skipped. */
  callOfTurn: (turn: number) => number | undefined;
}

export function timelinePlaces(
  items: readonly ConversationItem[],
  invocations: readonly InvocationView[],
  owners: CallOwners,
): TimelinePlaces {
  const agents = new Map(invocations.map((agent) => [agent.id, agent]));
  const isShown = (id: string | undefined) => id === undefined || (agents.get(id)?.depth ?? 0) === 0;
  const turnCalls = owners.models.flatMap((owner, call) => (isShown(owner) ? [call] : []));
  const ofTool = (id: string | null | undefined) =>
    items.find(({ callId }) => callId !== undefined && callId === id)?.place;
  const ofTurn = (turn: number) => items.find((item) => item.from === "output" && item.turn === turn)?.place;
  /** The call that started an agent, or the agent that started it. */
  const ofAgent = (id: string): number | undefined => {
    const seen = new Set<string>();
    for (let agent = agents.get(id); agent && !seen.has(agent.id); agent = agents.get(agent.parent ?? "")) {
      seen.add(agent.id);
      const place = ofTool(agent.spawned_by);
      if (place !== undefined) return place;
    }
    return ofTurn(1);
  };
  return {
    ofAgent,
    callOfTurn: (turn) => turnCalls[turn - 1],
    ofSpan: (span) => {
      if (span.call !== undefined) {
        const owner = owners.models[span.call];
        return isShown(owner) || owner === undefined
          ? ofTurn(turnCalls.indexOf(span.call) + 1)
          : ofAgent(owner);
      }
      if (span.kind !== "tool" || span.reference === undefined) return undefined;
      const owner = owners.tools.get(span.reference);
      return ofTool(span.reference) ?? (owner === undefined || isShown(owner) ? undefined : ofAgent(owner));
    },
  };
}
