class TextRunConfig:
    def __init__(self, **settings):
        self.settings = settings
