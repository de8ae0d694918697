class Task:
    @staticmethod
    def model_validate(data):
        return data
