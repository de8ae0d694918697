#!/bin/bash
cd /app || exit 1
if [ -s /logs/artifacts/model.patch ] && ! git apply /logs/artifacts/model.patch; then
  echo '{"reward": 0, "apply_failed": true}' > /logs/verifier/reward.json
  echo '{}' > /logs/verifier/ctrf.json
  exit 0
fi
git apply /tests/test.patch && python3 /tests/grader.py
