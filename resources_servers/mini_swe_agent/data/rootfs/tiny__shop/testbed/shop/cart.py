"""What a customer wants to buy."""


class Cart:
    def __init__(self, items=[]):
        self.items = items

    def add(self, name, cents, count=1):
        self.items.append((name, cents, count))

    def total(self):
        return sum(cents for _, cents, count in self.items)
