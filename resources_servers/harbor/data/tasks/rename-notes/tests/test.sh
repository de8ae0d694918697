#!/bin/bash
mkdir -p /logs/verifier
cd /app/notes
if [ "$(cat a.md 'b c.md' d.md 2> /dev/null)" = $'one\ntwo\nthree' ] && ! ls ./*.text > /dev/null 2>&1; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
