import {
  COMMAND_RULES,
  ISSUE,
  OBSERVATION,
  type TemplateTexts,
  timeoutText,
} from "../../libraries/swe/agent/templates.ts";

const SYSTEM = `You solve programming tasks in a computer's shell.

Every answer holds your reasoning and then exactly one bash block with exactly one command (join several with && or ||):

\`\`\`bash
your_command_here
\`\`\``;

const TASK = `${ISSUE}

${COMMAND_RULES}

When all is done, submit your work with this command and nothing else in the block. You cannot go on afterwards:

\`\`\`bash
echo {{ submit_marker }} && git add -A && git diff --cached
\`\`\``;

const FORMAT_ERROR = `Give exactly one action: one bash block. Your answer has {{ actions | length }}.

\`\`\`bash
your_command_here
\`\`\`

To submit your work, run \`echo {{ submit_marker }} && git add -A && git diff --cached\`.`;

/** The texts for a model that acts by writing a bash block. */
export const blockTexts: TemplateTexts = {
  system_template: SYSTEM,
  instance_template: TASK,
  action_observation_template: OBSERVATION,
  format_error_template: FORMAT_ERROR,
  timeout_template: timeoutText("The command <command>{{ action.action }}</command>"),
};
