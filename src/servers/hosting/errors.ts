import type { ErrorTable } from "../../base/errors.ts";

/** Codes of servers: their code, their start and their responses. */
export const serverErrorCodes = {
  ServerCodeError: {
    SERVER_CODE: {
      when: "The folder or the entry file of a server was not found, or is outside its folder.",
      fix: "Correct the implementation or `entrypoint`, or add the root with `--search-dir`.",
    },
  },
  GymError: {
    SERVER_DEFINITION: {
      when: "The definition of a server misspells an option or lacks a required one, or declares a tool that cannot be called: its name is that of a route of every server, or is not valid in a path.",
      fix: "Correct the option, or give the tool another name.",
    },
    SERVER_CONFIG: {
      when: "The config of a server does not fit the schema it declares, or a key that every server has (`num_workers`, `max_body_mb`, …) has a value that cannot be used.",
      fix: "Correct the fields listed.",
    },
    SERVER_HOSTING: {
      when: "`hosting` at the top of the config has an unknown value.",
      fix: "Use one of the values listed.",
    },
    SERVER_INSTALL: {
      when: "The libraries of a server with its own environment cannot be installed.",
      fix: "Run the shown installation yourself and fix the problem it reports.",
    },
    SERVER_START: {
      when: "A server ended or failed while it was starting.",
      fix: "Read its last lines in the message or its log.",
    },
    SERVER_RESTART: {
      when: "A server that shares a process was asked to restart alone.",
      fix: "Run it in its own process (`hosting: process`).",
    },
    AGENT_RESOURCES: {
      when: "An agent without `resources_server` was asked to run a whole rollout.",
      fix: "Set `resources_server` of the agent, or run its rollouts through an environment server.",
    },
    AGENT_SESSION: {
      when: "An agent cannot do in a session what an environment server asks for, such as using a sandbox.",
      fix: "Use another agent, or other `resources_tool_transports` of the environment server.",
    },
    EPISODE_ROW: {
      when: "An environment server got a row that is not for it: of another agent or task source, or without an id.",
      fix: "Correct the members of the row that the message names, or its route.",
    },
    RESOURCES_SESSION: {
      when: "A session of an environment was opened after its close, or for another episode.",
      fix: "Use a new `resources_session_id` for each attempt.",
    },
    MCP_EXPOSURE: {
      when: "A tool cannot be offered over MCP.",
      fix: "Change the tool as the message says, or do not expose it.",
    },
  },
  CaptureConfigError: {
    CAPTURE_CONFIG: {
      when: "Recording is on, but `model_call_capture_dir` or the block `token_id_capture` is not usable.",
      fix: "Set an absolute directory that all servers and the collector share; correct the keys listed.",
    },
  },
  ServerExitError: {
    SERVER_EXIT: {
      when: "Code of a server called `process.exit`. The current call fails with 500, and the run continues.",
      fix: "Throw an error instead.",
    },
  },
  ListenError: {
    SERVER_LISTEN: {
      when: "A server cannot listen on its address; the message names the process that uses the port, if known.",
      fix: "Free the port or choose another one.",
    },
  },
  ServerCrashError: {
    SERVER_CRASHED: {
      when: "A server ended while others depended on it.",
      fix: "Read its last lines in the message or its log.",
    },
  },
  HttpError: {
    SERVER_HTTP: {
      when: "A handler returned an HTTP error.",
      fix: "Follow the detail of the response.",
    },
  },
  PromptTemplateError: {
    PROMPT_TEMPLATE: {
      when: "A judge's prompt template is malformed or has an unknown field.",
      fix: "Correct the template; the message lists the fields.",
    },
  },
  JudgeError: {
    JUDGE_FAILED: {
      when: "A judge could not be reached. The rollout fails and gets no score.",
      fix: "Check the judge's endpoint, key and limits.",
    },
  },
} satisfies ErrorTable;
