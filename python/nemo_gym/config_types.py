"""Types of config values. Trainers import this module to see whether the gym is installed."""

from nemo_gym.server_utils import BaseServerConfig

__all__ = ["BaseServerConfig"]
