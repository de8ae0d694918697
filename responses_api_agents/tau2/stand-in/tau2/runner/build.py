def _build_env_kwargs(config, task):
    return {}
