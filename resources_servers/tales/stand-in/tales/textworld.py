environments = [("TWEval", "v0")]
train_environments = [("TW0", "v0"), ("TW1", "v0")]
