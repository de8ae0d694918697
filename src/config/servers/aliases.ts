/** Renamed components, by old name. Configs and commands with the old name keep working. */
const componentAliases: Readonly<Record<string, string>> = {
  simple_weather: "example_single_tool_call",
  example_simple_weather: "example_single_tool_call",
  multineedle: "example_multi_step",
  stateful_counter: "example_session_state_mgmt",
  example_stateful_counter: "example_session_state_mgmt",
  comp_coding: "code_gen",
  library_judge_math: "math_with_judge",
  multiverse_math_hard: "math_advanced_calculations",
  workbench: "workplace_assistant",
};

/** The shared model instance has had two names. A reference to one finds the other if only that is configured. */
const MODEL_INSTANCE_ALIASES: Readonly<Record<string, string>> = {
  openai_model: "policy_model",
  policy_model: "openai_model",
};

/** Instances of shipped configs that had no suffix in the past. */
const SUFFIXED_INSTANCES = new Set(["example_multi_step", "example_session_state_mgmt"]);

const COMPONENT_PATH =
  /^(?:\.\/)*(?:resources_servers|responses_api_agents|responses_api_models|benchmarks|environments)\//;

/** The current name of a component; other names are returned unchanged. */
export function currentComponentName(name: string): string {
  return (Object.hasOwn(componentAliases, name) && componentAliases[name]) || name;
}

/** `resources_servers/<old>/configs/<old>.yaml` with the current names; undefined if nothing changes. */
export function aliasedPath(path: string): string | undefined {
  if (!COMPONENT_PATH.test(path)) return undefined;
  const segments = path.split("/").map((segment) => {
    const [stem = "", extension = ""] = segment.split(/(?=\.[^.]*$)/);
    return currentComponentName(stem) + extension;
  });
  const renamed = segments.join("/");
  return renamed === path ? undefined : renamed;
}

/**
 * The configured instance of an old name: `simple_weather_simple_agent` is `example_single_tool_call_simple_agent`.
 * Undefined if no new form of `name` is in `available`.
 */
export function aliasedInstance(name: string, available: ReadonlySet<string>): string | undefined {
  return instanceCandidates(name).find((candidate) => available.has(candidate));
}

/** The old names of an instance: for `example_single_tool_call_simple_agent` they are `simple_weather_simple_agent`, …. */
export function olderInstanceNames(name: string): string[] {
  return Object.entries(componentAliases).flatMap(([old, current]) =>
    name === current || name.startsWith(`${current}_`) ? [old + name.slice(current.length)] : [],
  );
}

function instanceCandidates(name: string): string[] {
  if (Object.hasOwn(MODEL_INSTANCE_ALIASES, name)) return [MODEL_INSTANCE_ALIASES[name] ?? name];
  if (SUFFIXED_INSTANCES.has(name)) return [`${name}_resources_server`];
  return Object.entries(componentAliases).flatMap(([old, current]) => {
    if (name !== old && !name.startsWith(`${old}_`)) return [];
    const rest = name.slice(old.length);
    // In some generations of configs, the instance of a resources server has this suffix.
    if (rest === "") return [current, `${current}_resources_server`];
    return rest === "_resources_server" ? [current + rest, current] : [current + rest];
  });
}
