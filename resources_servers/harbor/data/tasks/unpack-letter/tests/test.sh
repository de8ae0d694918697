#!/bin/bash
mkdir -p /logs/verifier
if [ "$(cat /app/first-line.txt)" = "Dear Ada," ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
