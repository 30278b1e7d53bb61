"""`vllm serve` looked after: what it needs of the machine, its command, proof that it reads, restarts."""
