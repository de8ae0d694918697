/** Components that were renamed; configs and commands written with the old name keep working. */
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

/** The shared model instance has had two names; configs with either refer to the other where only that is configured. */
const MODEL_INSTANCE_ALIASES: Readonly<Record<string, string>> = {
  openai_model: "policy_model",
  policy_model: "openai_model",
};

/** Instances of shipped configs that once had no suffix. */
const SUFFIXED_INSTANCES = new Set(["example_multi_step", "example_session_state_mgmt"]);

const COMPONENT_PATH =
  /^(?:\.\/)*(?:resources_servers|responses_api_agents|responses_api_models|benchmarks|environments)\//;

/** The name a component has today; names that were never changed are returned as they are. */
export function currentComponentName(name: string): string {
  return (Object.hasOwn(componentAliases, name) && componentAliases[name]) || name;
}

/** `resources_servers/<old>/configs/<old>.yaml` with today's names; undefined when nothing changes. */
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
 * The configured instance an older name means: `simple_weather_simple_agent` is `example_single_tool_call_simple_agent`.
 * Undefined when `name` has no newer form among `available`.
 */
export function aliasedInstance(name: string, available: ReadonlySet<string>): string | undefined {
  return instanceCandidates(name).find((candidate) => available.has(candidate));
}

/** The names that an instance had before: those of `example_single_tool_call_simple_agent` are `simple_weather_simple_agent`, …. */
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
    // Generations of configs differ in whether the instance of a resources server carries this suffix.
    if (rest === "") return [current, `${current}_resources_server`];
    return rest === "_resources_server" ? [current + rest, current] : [current + rest];
  });
}
