/** Definitions of servers. */

export { checkDefinition } from "./check-definition.ts";
export type { AgentDefinition } from "./define-agent.ts";
export type { ModelDefinition } from "./define-model.ts";
export type { GymnasiumServerDefinition, ResourcesServerDefinition } from "./define-resources.ts";
export { isServerDefinition, type ServerDefinition, type ServerType } from "./definitions.ts";
export { failureMembers } from "./episodes/legacy-row.ts";
