#!/bin/bash
sed -i 's/ if word.isdigit()//' /app/sum.py
