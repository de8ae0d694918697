import { opencodeAgent } from "../../libraries/opencode/opencode-agent.ts";

export default opencodeAgent("OpencodeAgent", false);
