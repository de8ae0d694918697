import unittest

from shop.cart import Cart
from shop.prices import discounted, format_price, parse_price


class PriceTest(unittest.TestCase):
    def test_parse_whole(self):
        self.assertEqual(parse_price("7"), 700)

    def test_parse_two_digits(self):
        self.assertEqual(parse_price("3.50"), 350)

    def test_format(self):
        self.assertEqual(format_price(1250), "12.50")

    def test_no_discount(self):
        self.assertEqual(discounted(999, 0), 999)


class CartTest(unittest.TestCase):
    def test_total(self):
        cart = Cart([])
        cart.add("tea", 250)
        self.assertEqual(cart.total(), 250)


if __name__ == "__main__":
    unittest.main()
