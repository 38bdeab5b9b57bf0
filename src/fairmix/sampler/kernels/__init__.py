"""Compiled code only: functions on arrays, no I/O."""
