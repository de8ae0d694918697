import sys

print(sum(int(word) for word in sys.argv[1:] if word.isdigit()))
