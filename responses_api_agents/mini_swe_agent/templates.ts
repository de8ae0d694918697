import { OBSERVATION, type TemplateTexts } from "../../libraries/swe/agent/templates.ts";

const SYSTEM = `You solve programming tasks in a computer's shell.

Every answer holds your reasoning and then exactly one bash block with exactly one command (join several with && or ||):

\`\`\`bash
your_command_here
\`\`\``;

const TASK = `Solve this issue of the repository in the current directory:

<issue>
{{ task }}
</issue>

Change the source so that the issue is solved. Leave tests and configuration files as they are.

- Each command runs in a shell of its own: directory and variables are not kept. Begin with \`cd\` or set variables in the command where that matters.
- Commands cannot ask for input. Edit files with sed, with a here-document or with a short script.
- Look at the code, reproduce the issue, change the source, and check that the issue is gone.

When all is done, submit your work with this command and nothing else in the block. You cannot go on afterwards:

\`\`\`bash
echo {{ submit_marker }} && git add -A && git diff --cached
\`\`\``;

const FORMAT_ERROR = `Give exactly one action: one bash block. Your answer has {{ actions | length }}.

\`\`\`bash
your_command_here
\`\`\`

To submit your work, run \`echo {{ submit_marker }} && git add -A && git diff --cached\`.`;

const TIMEOUT = `The command <command>{{ action.action }}</command> took longer than {{ timeout }} seconds and was ended. Its output so far:
<output>
{{ output[-max_output:] }}
</output>
Try another command, one that ends by itself and asks for no input.`;

/** What the model is told when it acts by writing a bash block. */
export const blockTexts: TemplateTexts = {
  system_template: SYSTEM,
  instance_template: TASK,
  action_observation_template: OBSERVATION,
  format_error_template: FORMAT_ERROR,
  timeout_template: TIMEOUT,
};
