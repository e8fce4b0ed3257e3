"""The site: what happens where an attempt runs. The same code on this machine and on any other."""
