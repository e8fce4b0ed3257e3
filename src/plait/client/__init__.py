"""The world's side of the ports: each adapter knows ports, codec and core, and none of its siblings."""
