class EvaluationType(str):
    pass
