#!/bin/bash
mkdir -p /logs/verifier
passed=0
check() { [ "$(python3 /app/sum.py $1)" = "$2" ] && passed=$((passed + 1)); }
check "1 2" 3
check "-1 5" 4
check "-3 -4" -7
python3 -c "import json, sys; p, n = map(int, sys.argv[1:]); print(json.dumps({'reward': p / n, 'passed': p}))" "$passed" "$CASES" > /logs/verifier/reward.json
