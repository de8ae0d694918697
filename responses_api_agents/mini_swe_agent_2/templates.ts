import {
  COMMAND_RULES,
  ISSUE,
  OBSERVATION,
  type TemplateTexts,
  timeoutText,
} from "../../libraries/swe/agent/templates.ts";

const SYSTEM = "You solve programming tasks in a computer's shell, with the tool bash.";

const TASK = `${ISSUE}

- Every answer holds your reasoning and at least one call of bash. Calls that do not depend on each other may go into one answer; they run in order.
${COMMAND_RULES}

When all is done, submit your work with this command, in a call of its own. A command that fails does not submit. You cannot go on afterwards:

echo {{ submit_marker }} && git add -A && git diff --cached`;

const FORMAT_ERROR = `{{ error }} Nothing was run. Every answer needs at least one call of the tool bash with a command.

To submit your work, run \`echo {{ submit_marker }} && git add -A && git diff --cached\`.`;

/** The texts for a model that acts by calling a tool. */
export const toolTexts: TemplateTexts = {
  system_template: SYSTEM,
  instance_template: TASK,
  action_observation_template: OBSERVATION,
  format_error_template: FORMAT_ERROR,
  timeout_template: timeoutText("The command"),
};
