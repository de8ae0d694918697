"""Stands in for Gymnasium in the tests: one small game whose score the commands change."""


class Game:
    def __init__(self, name):
        self.name, self.score, self.moves = name, 0, 0

    def reset(self, seed):
        print("a library that prints")
        return f"start {self.name} seed {seed}", {"admissible_commands": ["a"], "moves": self.moves}

    def step(self, command):
        self.moves += 1
        if command == "boom":
            raise RuntimeError("the game broke")
        self.score += {"take": 2, "lose": -1}.get(command, 0)
        info = {"admissible_commands": ["b"], "moves": self.moves}
        return f"{self.name}: {command}", self.score, command == "win", info

    def close(self):
        pass


def make(id, disable_env_checker, admissible_commands):
    return Game(id)
