"""Every document that crosses a process or a network, and the fixtures of a catalog."""
