#!/bin/bash
for file in /app/notes/*.text; do mv "$file" "${file%.text}.md"; done
