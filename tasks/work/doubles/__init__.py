"""Doubles of what pagemill talks to: shipped, so that others too can test without the real thing."""
