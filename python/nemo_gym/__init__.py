"""The names trainers import from NeMo Gym, as thin clients of the `gym` command."""

from pathlib import Path

__version__ = "0.1.0"

#: The folder that contains this package. Trainers derive the paths of config files from it; see `RunHelper.start`.
PARENT_DIR = Path(__file__).absolute().parent.parent
