"""Machines for the real tests: images, virtual machines and containers, made on this host."""
