#!/bin/bash
cd /app && tar -xf box.tar && head -n 1 box/deep/er/letter.txt > first-line.txt
