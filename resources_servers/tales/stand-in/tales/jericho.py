environments = [("J0", "v0")]
