import { terminusAgent } from "../../libraries/terminal/terminus-agent.ts";

export default terminusAgent("Terminus2SandboxedAgent", "session");
