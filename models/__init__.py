"""What things are. No I/O; standard library and pydantic only."""
