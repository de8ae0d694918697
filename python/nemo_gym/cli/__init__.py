"""Starts the servers of a config, watches them, stops them."""

from nemo_gym.cli.run_helper import GlobalConfigDictParserConfig, GymProcessError, RunHelper

__all__ = ["GlobalConfigDictParserConfig", "GymProcessError", "RunHelper"]
